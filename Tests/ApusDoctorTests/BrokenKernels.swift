// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// What is wrong with a kernel set that tests break.
enum Breakage: CaseIterable, Sendable {
  /// The last byte of each product and convolution.
  case convolutions
  /// The last byte of each depthwise convolution.
  case depthwise
  /// The last byte of each product and convolution, if several threads compute it.
  case threads
  /// The first byte of outputs that the real kernel rounds: one step off.
  case rounding
  /// Sums of floats are differences.
  case floatSums
  /// A table of bytes has a wrong entry.
  case byteTables
  /// Softmax of floats has another factor.
  case softmax
}

extension KernelSet {
  /// This set with something broken.
  func broken(_ breakage: Breakage) -> KernelSet {
    KernelSet(
      name: name, requires: requires,
      convolutions: BrokenConvolutions(kernels: convolutions, breakage: breakage),
      generated: generated.map { BrokenElements(kernels: $0, breakage: breakage) })
  }
}

private struct BrokenConvolutions: ConvolutionKernels {
  let kernels: any ConvolutionKernels
  let breakage: Breakage

  func missing() -> String? { kernels.missing() }

  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution {
    BrokenConvolution(try kernels.convolution(convolution, isForOneThread: isForOneThread), breakage)
  }

  func depthwiseConvolution(_ convolution: DepthwiseConvolution) throws(Decline) -> any PreparedConvolution {
    let kernel = try kernels.depthwiseConvolution(convolution)
    return BrokenConvolution(kernel, breakage == .depthwise ? .convolutions : breakage)
  }

  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    try kernels.thinProduct(rows: rows, depth: depth, columns: columns)
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
    case .depthwise, .floatSums, .byteTables, .softmax: break
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

  func sum(
    _ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel {
    try kernels.sum(sum, isSigned: isSigned, shapes)
  }
  func product(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel {
    try kernels.product(product, isSigned: isSigned, shapes)
  }
  func floats(_ operation: FloatOperation, _ shapes: BroadcastShapes) throws(Decline) -> any BinaryKernel {
    if breakage == .floatSums, operation.kind == .add {
      return try kernels.floats(FloatOperation(.subtract), shapes)
    }
    return try kernels.floats(operation, shapes)
  }
  func parametricRelu(_ relu: SinglePrecisionRelu) throws(Decline) -> FormulaCode {
    try kernels.parametricRelu(relu)
  }
  func byteMapping(_ table: [UInt8]) throws(Decline) -> ByteMapping {
    var table = table
    if breakage == .byteTables { table[77] ^= 1 }
    return try kernels.byteMapping(table)
  }
  func floatMapping(_ function: FloatFunction) throws(Decline) -> FloatMapping {
    try kernels.floatMapping(function)
  }
  func formula(_ formula: FloatFormula) throws(Decline) -> FormulaCode { try kernels.formula(formula) }
  func truncation() throws(Decline) -> FloatMapping { try kernels.truncation() }
  func floatSoftmax(beta: Float, depth: Int) throws(Decline) -> FloatMapping {
    try kernels.floatSoftmax(beta: breakage == .softmax ? beta * 1.01 : beta, depth: depth)
  }
  func floatLogSoftmax(depth: Int) throws(Decline) -> FloatMapping {
    try kernels.floatLogSoftmax(depth: depth)
  }
  func byteSoftmax(
    exponentials: [Int32], summands: [Int32], isSigned: Bool, depth: Int
  ) throws(Decline) -> ByteSoftmaxMapping {
    try kernels.byteSoftmax(
      exponentials: exponentials, summands: summands, isSigned: isSigned, depth: depth)
  }
  func postOperation(_ kind: PostOperationCode.Kind) throws(Decline) -> PostOperationCode {
    try kernels.postOperation(kind)
  }
  var vectorByteCount: Int { kernels.vectorByteCount }
  func pooling(_ reduction: TapReduction) throws(Decline) -> TapReductionCode {
    try kernels.pooling(reduction)
  }
  func transposition(width: Int) throws(Decline) -> TranspositionCode {
    try kernels.transposition(width: width)
  }
  func resize(isSigned: Bool) throws(Decline) -> ResizeCode { try kernels.resize(isSigned: isSigned) }
  func recurrence(tangentBits: [Int], wordCount: Int) throws(Decline) -> RecurrentCode {
    try kernels.recurrence(tangentBits: tangentBits, wordCount: wordCount)
  }
}
