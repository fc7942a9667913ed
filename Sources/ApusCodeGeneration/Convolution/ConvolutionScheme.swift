// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// The arithmetic that products, depthwise convolutions and Winograd's method share: operand types and
/// epilogues.
final class ConvolutionScheme: @unchecked Sendable {
  // @unchecked: immutable; its addresses are of code, which does not change either.

  private let targetName: String
  let product: ProductKind
  /// The product for gathered activations; gathering can flip the signs of bytes for it.
  let gatheredProduct: ProductKind
  /// The signs and zero points of bytes; nil for floats.
  let operands: ByteOperands?
  private let isHybrid: Bool
  /// The size of an element of input and output.
  let elementByteCount: Int
  /// How gathering converts elements.
  let lanes: TileGathering.Lanes
  /// Why the target's fastest epilogue was not used; nil if it is.
  private let unsimplified: Decline?
  /// The epilogue of the generated code, for sums within ``sumLimit``.
  let epilogue: LoweredEpilogue
  /// The epilogue for any sum, for weights and biases that may exceed the limit; nil if it is not needed.
  let general: LoweredEpilogue?
  /// Whether ``general`` exists. Each run reads this, and copying an epilogue takes time.
  private let hasGeneral: Bool
  /// The largest magnitude of a sum for which ``epilogue`` is exact; nil if there is no limit.
  private let sumLimit: Int?
  /// The limit that weights are packed for: ``sumLimit``, or a smaller one if layers with equal layouts can
  /// then share one packing.
  let packedSumLimit: Int?
  /// The channels that are packed with other factors and biases than the model has.
  let faint: FaintChannels?
  /// The parts that plain Swift computes because there is no code for them.
  private let plainParts: [String]
  /// The quantization of float activations at run time; nil for other activations.
  private let quantization: HybridQuantization?

  /// The arithmetic of a convolution; throws if its operands and epilogue do not fit together.
  ///
  /// - Parameters:
  ///   - depth: K, the number of products per sum.
  ///   - bytes: how unsigned bytes are multiplied.
  ///   - bfloat16: how bfloat16 is multiplied; nil where it is not.
  init(
    _ matrixOperands: MatrixOperands, _ epilogue: Epilogue, batches: Int, inputCount: Int,
    outputChannels: Int, outputsPerChannel: Int, depth: Int, target: any CodeTarget,
    bytes: ProductKind, bfloat16: ProductKind? = nil
  ) throws(Decline) {
    let product = try ProductKind(matrixOperands, epilogue, bytes: bytes, bfloat16: bfloat16)
    try epilogue.requireFit(matrixOperands, channels: outputChannels)
    let makesBytes = product == .unsignedBytes
    quantization = HybridQuantization(
      matrixOperands, batches: batches, inputCount: inputCount, makesBytes: makesBytes,
      code: matrixOperands.isHybrid ? try target.quantization(makesBytes: makesBytes) : nil)
    self.product = product
    gatheredProduct = target.gathered(product)
    let operands = matrixOperands.generatedBytes
    self.operands = operands
    targetName = target.name
    isHybrid = matrixOperands.isHybrid
    var faint = FaintChannels(epilogue, minimumShift: target.minimumShift)
    var common = faint?.epilogue ?? epilogue
    var unsimplified: Decline?
    var simplified: LoweredEpilogue?
    do throws(Decline) {
      simplified = try target.simplified(
        common, faint: faint, outputsPerChannel: outputsPerChannel, depth: depth)
    } catch { unsimplified = error }
    // Code that is exact for any sum supports any factor.
    if simplified == nil, target.sumLimit(.stated(common)) == nil { (faint, common) = (nil, epilogue) }
    self.faint = faint
    self.epilogue = simplified ?? .stated(common)
    self.unsimplified = unsimplified
    try target.requireCode(for: self.epilogue)
    let sumLimit = target.sumLimit(self.epilogue)
    self.sumLimit = sumLimit
    packedSumLimit = faint == nil ? sumLimit ?? target.sumLimit(.stated(common)) : sumLimit
    let general = sumLimit != nil || faint != nil ? LoweredEpilogue(ofAnySum: epilogue) : nil
    self.general = general
    hasGeneral = general != nil
    elementByteCount = matrixOperands.generatedByteCount
    var plainParts: [String] = []
    func code<Code>(_ what: String, _ make: () throws(Decline) -> Code) -> Code? {
      do throws(Decline) { return try make() } catch {
        plainParts.append("\(what) in plain Swift: \(error)")
        return nil
      }
    }
    let flips = gatheredProduct != product
    if product.isBFloat16 {
      let isWide = product == .bfloat16AsFloats
      let rounding = code("floats are rounded") { () throws(Decline) in try target.rounding(toFloats: isWide)
      }
      lanes =
        isWide ? .roundedFloats(RoundedFloats(code: rounding)) : .roundedHalves(RoundedHalves(code: rounding))
    } else {
      lanes = TileGathering.Lanes(
        product, operands, isHybrid: matrixOperands.isHybrid, flips: flips,
        flipping: flips ? code("sign bits flipped") { () throws(Decline) in try target.flipping() } : nil
      ) { isSigned in
        code("bytes are widened") { () throws(Decline) in try target.widening(isSigned: isSigned) }
      }
    }
    self.plainParts = plainParts
  }

  /// The identity of a weight layout: `kind` and `measures` describe its shape, the scheme adds the
  /// arithmetic.
  func layout(_ kind: String, _ measures: [Int]) -> WeightLayout {
    var numbers = measures
    if let operands { numbers += [Int(operands.lhsZeroPoint), Int(operands.rhsZeroPoint)] }
    if let faint { numbers += faint.identity }
    if let packedSumLimit { numbers.append(packedSumLimit) }
    return WeightLayout(
      kind, targetName, product.name, isHybrid ? "hybrid" : faint == nil ? "" : "faint", numbers: numbers)
  }

  /// Why the epilogue is not the fastest one, for this layer or for these weights; shown by `apus inspect
  /// --plan`.
  func notes(_ packed: PackedWeights?) -> [String] {
    var notes = plainParts
    if let unsimplified { notes.append("not in single precision: \(unsimplified)") }
    if let faint { notes.append(faint.note) }
    guard let packed, needsGeneral(packed) else { return notes }
    if WeightTerms.bounds(packed) == .severalOutputs {
      notes.append("step by step: a channel with a factor next to zero may make several outputs")
    } else {
      notes.append(
        "step by step: these weights and biases may take sums beyond ±\(sumLimit ?? .max)")
    }
    return notes
  }

  /// Whether these weights need the ``general`` epilogue.
  func needsGeneral(_ packed: PackedWeights) -> Bool {
    guard hasGeneral else { return false }
    return switch WeightTerms.bounds(packed) {
    case .kept: false
    case .exceeded: sumLimit != nil
    default: true
    }
  }

  // MARK: Running

  /// The memory of one run; valid while it lasts.
  @safe struct Memory {
    /// The input, or its quantized values.
    let input: UnsafeRawPointer
    /// The scales of quantized images.
    let scales: UnsafeRawPointer
    /// The negated zero points of quantized images.
    let zeroPoints: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    /// The workers' memory.
    let scratch: UnsafeMutableRawPointer

    /// The zero point of an image that was quantized to bytes.
    func zeroPoint(image: Int) -> UInt8 {
      let negated = unsafe zeroPoints.load(fromByteOffset: 4 &* image, as: Int32.self)
      return UInt8(truncatingIfNeeded: 0 &- negated)
    }
  }

  /// Scratch memory that all workers share: alignment, quantized images and their parameters.
  var sharedByteCount: Int { 64 + (quantization?.byteCount ?? 0) }

  /// Quantizes a float input if the layer is hybrid, then calls `body` with the memory of the run.
  func run(
    _ input: RawSpan, _ output: inout MutableRawSpan, _ scratch: inout MutableRawSpan, threads: ThreadTeam,
    _ body: (Memory) -> Void
  ) {
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      let shared = unsafe scratch.alignedUp(toMultipleOf: 64)
      let rows = unsafe quantization?.run(input, to: shared, threads: threads) ?? input
      body(
        unsafe Memory(
          input: rows, scales: UnsafeRawPointer(shared),
          zeroPoints: UnsafeRawPointer(shared + (quantization?.zeroPointOffset ?? 0)), output: output,
          scratch: shared + (quantization?.byteCount ?? 0)))
    }
  }
}
