// SPDX-License-Identifier: Apache-2.0

/// What is multiplied and what becomes of the sums: all that plain and depthwise convolutions have in common.
final class ConvolutionScheme: @unchecked Sendable {
  // @unchecked: nothing changes; the addresses are of code, which does not either.

  private let targetName: String
  let product: ProductKind
  /// That of gathered activations: bytes whose sign does not suit the target's are gathered with the other one.
  let gatheredProduct: ProductKind
  /// How bytes are multiplied; nil for floats.
  let operands: ByteOperands?
  private let isHybrid: Bool
  /// The size of an element of input and output.
  let elementByteCount: Int
  /// What gathered elements become.
  let lanes: TileGathering.Lanes
  /// Why it does not make them in the fastest way that the target knows; nil where it does.
  private let unsimplified: Decline?
  /// What the generated code makes of sums, as a rule.
  let epilogue: LoweredEpilogue
  /// What it makes of sums that weights and biases may take beyond the limit of that; nil where there is none.
  let general: LoweredEpilogue?
  /// Whether there is one: runs ask, and epilogues take time to copy.
  private let hasGeneral: Bool
  /// The greatest magnitude of sums that the rule takes; nil for any.
  private let sumLimit: Int?
  /// What weights are packed for: the same, or less where others with the same layout take less.
  let packedSumLimit: Int?
  /// The channels for which that is not what is asked for.
  let faint: FaintChannels?
  /// What makes words or bytes of floats.
  private let quantization: HybridQuantization?

  /// The scheme of a convolution whose outputs are sums of `depth` products; throws where its parts do not fit. `bytes` says
  /// how bytes are multiplied.
  init(
    _ matrixOperands: MatrixOperands, _ epilogue: Epilogue, batches: Int, inputCount: Int,
    outputChannels: Int, outputsPerChannel: Int, depth: Int, target: any CodeTarget,
    bytes: ProductKind
  ) throws(Decline) {
    let product = try ProductKind(matrixOperands, epilogue, bytes: bytes)
    try epilogue.requireFit(matrixOperands, channels: outputChannels)
    guard target.hybrid != nil || !matrixOperands.isHybrid else {
      throw Decline("operands of \(matrixOperands.name) have no code for \(target.name)")
    }
    self.product = product
    gatheredProduct = target.gathered(product)
    let operands = matrixOperands.generatedBytes
    self.operands = operands
    targetName = target.name
    isHybrid = matrixOperands.isHybrid
    var faint = FaintChannels(epilogue, leastShift: target.leastShift)
    var common = faint?.epilogue ?? epilogue
    var unsimplified: Decline?
    var simplified: LoweredEpilogue?
    do throws(Decline) {
      simplified = try target.simplified(
        common, faint: faint, outputsPerChannel: outputsPerChannel, depth: depth)
    } catch { unsimplified = error }
    // Code that takes any sums takes any factors.
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
    lanes = TileGathering.Lanes(
      product, operands, isHybrid: matrixOperands.isHybrid, flips: gatheredProduct != product,
      flipping: gatheredProduct != product ? target.flipping : nil
    ) {
      target.widening(isSigned: $0)
    }
    let makesBytes = product == .unsignedBytes
    quantization = HybridQuantization(
      matrixOperands, batches: batches, inputCount: inputCount, makesBytes: makesBytes,
      code: matrixOperands.isHybrid ? target.hybrid?.quantization(makesBytes: makesBytes) : nil)
  }

  /// A layout of weights packed for this scheme, of a kind that these numbers measure.
  func layout(_ kind: String, _ measures: [Int]) -> WeightLayout {
    var numbers = measures
    if let operands { numbers += [Int(operands.lhsZeroPoint), Int(operands.rhsZeroPoint)] }
    if let faint { numbers += faint.identity }
    if let packedSumLimit { numbers.append(packedSumLimit) }
    return WeightLayout(
      kind, targetName, product.name, isHybrid ? "hybrid" : faint == nil ? "" : "faint", numbers: numbers)
  }

  /// Why outputs are made, of all weights or of these, in another way than the fastest: for people to read.
  func notes(_ packed: PackedWeights?) -> [String] {
    var notes: [String] = []
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

  /// Whether outputs of these weights need the ``general`` epilogue.
  func needsGeneral(_ packed: PackedWeights) -> Bool {
    guard hasGeneral else { return false }
    return switch WeightTerms.bounds(packed) {
    case .kept: false
    case .exceeded: sumLimit != nil
    default: true
    }
  }

  // MARK: Running

  /// The memory of one run, for as long as it takes.
  @safe struct Memory {
    /// The input, or the words or bytes that were made of it.
    let input: UnsafeRawPointer
    /// The scales of quantized images.
    let scales: UnsafeRawPointer
    /// The zero points of their bytes, negated.
    let zeroPoints: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    /// Memory for each worker.
    let scratch: UnsafeMutableRawPointer

    /// The zero point of an image that was quantized to bytes.
    func zeroPoint(image: Int) -> UInt8 {
      let negated = unsafe zeroPoints.load(fromByteOffset: 4 &* image, as: Int32.self)
      return UInt8(truncatingIfNeeded: 0 &- negated)
    }
  }

  /// Scratch memory besides that of each worker: alignment, quantized images and their parameters.
  var sharedByteCount: Int { 64 + (quantization?.byteCount ?? 0) }

  /// Quantizes an input that is not, and hands over the memory of a run.
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
