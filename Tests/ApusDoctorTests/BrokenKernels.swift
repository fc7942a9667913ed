// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// The defect of a kernel set that tests break.
enum Breakage: CaseIterable, Sendable {
  /// The last byte of each product and convolution.
  case convolutions
  /// The last byte of each depthwise convolution.
  case depthwise
  /// The last byte of each product and convolution, if several threads compute it.
  case threads
  /// The first byte of outputs that the real kernel rounds: one step off.
  case rounding
  /// Products with matrices that are not packed are zeros.
  case thinProducts
  /// Sums of bytes are differences.
  case byteSums
  /// Products of bytes have another zero point.
  case byteProducts
  /// Sums of floats are differences.
  case floatSums
  /// The code for PRELU of bytes does nothing.
  case parametricRelu
  /// A table of bytes has a wrong entry.
  case byteTables
  /// The hyperbolic tangent is the logistic function.
  case functions
  /// Functions that compute several operators, or quantize, do nothing.
  case formulas
  /// Conversions to integers are roundings.
  case truncation
  /// Softmax of floats has another factor.
  case softmax
  /// Log-softmax is softmax.
  case logSoftmax
  /// The code after a product does nothing.
  case postOperations
  /// The code for pooling does nothing.
  case pooling
  /// The code for transpositions does nothing.
  case transposition
  /// The code for interpolation does nothing.
  case resize
  /// The code for gates of recurrent layers does nothing, and its functions are others.
  case recurrence
}

extension Breakage {
  /// Ways that every set with generated code can be broken.
  private static let general: [Breakage] = [
    .convolutions, .depthwise, .threads, .rounding, .floatSums, .byteTables, .softmax,
  ]

  /// Whether a set can be broken so. The other ways were tried with AVX2 alone.
  func exists(in set: KernelSet) -> Bool { Self.general.contains(self) || set === KernelSet.x86AVX2 }
}

/// A function that does nothing.
private struct Idle: CodeGenerator, Hashable {
  func generate() -> [UInt8]? {
    #if arch(x86_64)
      [0xC3]
    #else
      [0xC0, 0x03, 0x5F, 0xD6]
    #endif
  }
}

extension KernelSet {
  /// This set with something broken.
  func broken(_ breakage: Breakage) -> KernelSet {
    KernelSet(
      name: name, requires: requires,
      convolutions: BrokenConvolutions(kernels: convolutions, breakage: breakage),
      generated: generated.map { BrokenElements(kernels: $0, breakage: breakage) })
  }

  /// This set with the code of another function in the place of one.
  func broken(_ function: FloatFunction) -> KernelSet {
    KernelSet(
      name: name, requires: requires, convolutions: convolutions,
      generated: generated.map { BrokenElements(kernels: $0, breakage: .functions, function: function) })
  }
}

private struct BrokenConvolutions: ConvolutionKernels {
  let kernels: any ConvolutionKernels
  let breakage: Breakage

  func missing() -> String? { kernels.missing() }

  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution {
    BrokenConvolution(
      try kernels.convolution(convolution, isForOneThread: isForOneThread),
      convolution.isDepthwise && breakage == .depthwise ? .convolutions : breakage)
  }

  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    let code = try kernels.thinProduct(rows: rows, depth: depth, columns: columns)
    if breakage == .thinProducts { return { _ in } }
    return code
  }
}

private final class BrokenConvolution: PreparedConvolution {
  let kernel: any PreparedConvolution
  let breakage: Breakage

  init(_ kernel: any PreparedConvolution, _ breakage: Breakage) {
    self.kernel = kernel
    self.breakage = breakage
  }

  var packing: WeightLayout { kernel.packing }
  var packedByteCount: Int { kernel.packedByteCount }
  var implementation: String { kernel.implementation }
  func packedByteCount(for weights: RawSpan) -> Int { kernel.packedByteCount(for: weights) }
  func scratchByteCount(threads: Int) -> Int { kernel.scratchByteCount(threads: threads) }
  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    kernel.pack(weights: weights, bias: bias, into: packed)
  }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    kernel.run(packed, input: input, output: &output, scratch: &scratch, threads: threads)
    guard output.byteCount > 0 else { return }
    switch breakage {
    case .convolutions: Self.change(&output, at: output.byteCount - 1) { $0 ^ 0x40 }
    case .threads: if threads.count > 1 { Self.change(&output, at: output.byteCount - 1) { $0 ^ 0x40 } }
    case .rounding:
      if kernel.implementation.contains("bytes") { Self.change(&output, at: 0) { $0 == 0 ? 1 : $0 - 1 } }
    default: break
    }
  }

  private static func change(_ output: inout MutableRawSpan, at index: Int, _ body: (UInt8) -> UInt8) {
    let byte = output.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    output.storeBytes(of: body(byte), toByteOffset: index, as: UInt8.self)
  }
}

private struct BrokenElements: GeneratedKernels {
  let kernels: any GeneratedKernels
  let breakage: Breakage
  /// The function that `functions` breaks.
  var function = FloatFunction.tanh

  func sum(
    _ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel {
    let other = QuantizedSum(
      lhs: sum.lhs, rhs: sum.rhs, isDifference: !sum.isDifference, isSquared: sum.isSquared,
      leftShift: sum.leftShift, output: sum.output)
    return try kernels.sum(breakage == .byteSums ? other : sum, isSigned: isSigned, shapes)
  }
  func product(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel {
    let other = QuantizedProduct(
      lhsZeroPoint: product.lhsZeroPoint ^ 8, rhsZeroPoint: product.rhsZeroPoint, output: product.output)
    return try kernels.product(breakage == .byteProducts ? other : product, isSigned: isSigned, shapes)
  }
  func floats(_ operation: FloatOperation, _ shapes: BroadcastShapes) throws(Decline) -> any BinaryKernel {
    if breakage == .floatSums, operation.kind == .add {
      return try kernels.floats(FloatOperation(.subtract), shapes)
    }
    return try kernels.floats(operation, shapes)
  }
  func parametricRelu(_ relu: SinglePrecisionRelu) throws(Decline) -> FormulaCode {
    let code = try kernels.parametricRelu(relu)
    return breakage == .parametricRelu ? try idle(code, output: .byte(isSigned: relu.isSigned)) : code
  }
  func byteMapping(_ table: [UInt8]) throws(Decline) -> ByteMapping {
    var table = table
    if breakage == .byteTables { table[77] ^= 1 }
    return try kernels.byteMapping(table)
  }
  func floatMapping(_ function: FloatFunction) throws(Decline) -> FloatMapping {
    let isBroken = breakage == .functions && function == self.function
    return try kernels.floatMapping(isBroken ? function == .logistic ? .tanh : .logistic : function)
  }
  func formula(_ formula: FloatFormula) throws(Decline) -> FormulaCode {
    let code = try kernels.formula(formula)
    return breakage == .formulas ? try idle(code, output: formula.output) : code
  }
  func truncation() throws(Decline) -> FloatMapping {
    breakage == .truncation ? try kernels.floatMapping(.round) : try kernels.truncation()
  }
  func floatSoftmax(beta: Float, depth: Int) throws(Decline) -> FloatMapping {
    try kernels.floatSoftmax(beta: breakage == .softmax ? beta * 1.01 : beta, depth: depth)
  }
  func floatLogSoftmax(depth: Int) throws(Decline) -> FloatMapping {
    breakage == .logSoftmax
      ? try kernels.floatSoftmax(beta: 1, depth: depth) : try kernels.floatLogSoftmax(depth: depth)
  }
  func byteSoftmax(
    exponentials: [Int32], summands: [Int32], isSigned: Bool, depth: Int
  ) throws(Decline) -> ByteSoftmaxMapping {
    try kernels.byteSoftmax(
      exponentials: exponentials, summands: summands, isSigned: isSigned, depth: depth)
  }
  func postOperation(_ kind: PostOperationCode.Kind) throws(Decline) -> PostOperationCode {
    let code = try kernels.postOperation(kind)
    return breakage == .postOperations
      ? PostOperationCode(function: try CodeFunction(Idle()), lanes: code.lanes) : code
  }
  var vectorByteCount: Int { kernels.vectorByteCount }
  func pooling(_ reduction: TapReduction) throws(Decline) -> TapReductionCode {
    breakage == .pooling ? try TapReductionCode(reduction, Idle()) : try kernels.pooling(reduction)
  }
  func transposition(width: Int) throws(Decline) -> TranspositionCode {
    breakage == .transposition
      ? TranspositionCode(function: try CodeFunction(Idle()), width: width)
      : try kernels.transposition(width: width)
  }
  func resize(isSigned: Bool) throws(Decline) -> ResizeCode {
    breakage == .resize
      ? try ResizeCode(lanes: kernels.vectorByteCount / 4, isSigned: isSigned, rows: Idle(), columns: Idle())
      : try kernels.resize(isSigned: isSigned)
  }
  func recurrence(tangentBits: [Int], wordCount: Int) throws(Decline) -> RecurrentCode {
    guard breakage == .recurrence else {
      return try kernels.recurrence(tangentBits: tangentBits, wordCount: wordCount)
    }
    let formula = FloatFormula(FloatOperation(.add))
    let code = try idle(try kernels.formula(formula), output: formula.output)
    return try RecurrentCode(
      lanes: kernels.vectorByteCount / 4, hasMasks: true, products: Idle(), rescaling: Idle(), logistic: code,
      tangents: tangentBits.map { .init(integerBits: $0, code: code) })
  }

  /// Code that is called as another, and does nothing.
  private func idle(_ code: FormulaCode, output: FloatFormula.Output) throws(Decline) -> FormulaCode {
    FormulaCode(
      function: try CodeFunction(Idle()), inputs: code.inputs, output: output, lanes: code.lanes,
      vectorsAtOnce: 1,
      constants: [0])
  }
}
