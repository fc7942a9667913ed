// SPDX-License-Identifier: Apache-2.0

/// What is multiplied and what becomes of the sums: all that plain and depthwise convolutions have in common.
final class GeneratedScheme: @unchecked Sendable {
  // @unchecked: nothing changes; the addresses are of code, which does not either.

  private let targetName: String
  let product: GeneratedProduct
  /// That of gathered activations: bytes whose sign does not suit the target's are gathered with the other one.
  let gatheredProduct: GeneratedProduct
  /// How bytes are multiplied; nil for floats.
  let operands: ByteOperands?
  private let isHybrid: Bool
  /// The size of an element of input and output.
  let elementByteCount: Int
  /// What gathered elements become.
  let lanes: GeneratedGathering.Lanes
  /// Why generated code cannot make outputs of sums; nil where it can.
  private let unfinished: Decline?
  /// Why it does not make them in the fastest way that the target knows; nil where it does.
  private let unsimplified: Decline?
  /// Whether it depends on the weights whether it does.
  let needsBoundedSums: Bool
  /// What the generated code makes of sums.
  let epilogue: Epilogue
  /// The greatest magnitude of sums of which that makes outputs, if there is one.
  let sumLimit: Int?
  /// How much less that is than the target's, in bits.
  private let sumShift: Int
  /// The channels for which that is not what is asked for.
  let faint: FaintChannels?
  /// What makes words or bytes of floats.
  private let quantization: HybridQuantization?
  /// What makes outputs of sums otherwise.
  private let late: LateEpilogue?

  /// The scheme of a convolution whose outputs are sums of `depth` products; throws where its parts do not fit. `bytes` says
  /// how bytes are multiplied.
  init(
    _ matrixOperands: MatrixOperands, _ epilogue: Epilogue, batches: Int, inputCount: Int,
    outputChannels: Int, outputsPerChannel: Int, depth: Int, target: any GeneratedTarget,
    bytes: GeneratedProduct
  ) throws(Decline) {
    let product = try GeneratedProduct(matrixOperands, epilogue, bytes: bytes)
    try epilogue.requireFit(matrixOperands, channels: outputChannels)
    guard target.runsHybrid || !matrixOperands.isHybrid else {
      throw Decline("operands of \(matrixOperands.name) have no code for \(target.name)")
    }
    self.product = product
    gatheredProduct = target.gathered(product)
    let operands = matrixOperands.generatedBytes
    self.operands = operands
    let faint = FaintChannels(epilogue, leastShift: target.leastShift)
    self.faint = faint
    targetName = target.name
    isHybrid = matrixOperands.isHybrid
    let common = faint?.epilogue ?? epilogue
    var unsimplified: Decline?
    var simplified: Epilogue?
    do throws(Decline) {
      simplified = try target.simplified(
        common, faint: faint, outputsPerChannel: outputsPerChannel, depth: depth)
    } catch { unsimplified = error }
    self.epilogue = simplified ?? common
    self.unsimplified = unsimplified
    sumShift = Self.sumShift(common, self.epilogue)
    sumLimit = target.sumLimit.map { [sumShift] in $0 >> sumShift }
    elementByteCount = matrixOperands.generatedByteCount
    lanes = GeneratedGathering.Lanes(
      product, operands, isHybrid: matrixOperands.isHybrid, flips: gatheredProduct != product,
      flipping: gatheredProduct != product ? target.flipping : nil
    ) {
      target.widening(isSigned: $0)
    }
    let makesBytes = product == .unsignedBytes
    quantization = HybridQuantization(
      matrixOperands, batches: batches, inputCount: inputCount, makesBytes: makesBytes,
      code: matrixOperands.isHybrid ? target.quantization(makesBytes: makesBytes) : nil)
    var unfinished: Decline?
    do throws(Decline) { try target.requireFinish(self.epilogue) } catch { unfinished = error }
    self.unfinished = unfinished
    let isFixedPoint = if case .fixedPoint = epilogue { true } else { false }
    needsBoundedSums = isFixedPoint && sumLimit != nil
    late = needsBoundedSums || unfinished != nil ? LateEpilogue(epilogue, channels: outputChannels) : nil
  }

  /// Where factors of single precision are above one, products with them must be integers of 32 bits.
  private static func sumShift(_ epilogue: Epilogue, _ simplified: Epilogue) -> Int {
    guard case .singlePrecision = simplified, case .fixedPoint(let multipliers, _, _, _) = epilogue else {
      return 0
    }
    return multipliers.reduce(0) { max($0, Int($1.shift)) }
  }

  /// A layout of weights packed for this scheme, of a kind that these numbers measure.
  func layout(_ kind: String, _ measures: [Int]) -> WeightLayout {
    var numbers = measures
    if let operands { numbers += [Int(operands.lhsZeroPoint), Int(operands.rhsZeroPoint)] }
    if let faint { numbers += faint.identity }
    if sumShift > 0 { numbers.append(sumShift) }
    return WeightLayout(
      kind, targetName, product.name, isHybrid ? "hybrid" : faint == nil ? "" : "faint", numbers: numbers)
  }

  /// Whether generated code can make outputs of sums.
  var canFinish: Bool { unfinished == nil }

  /// Why outputs are made, of all weights or of these, in another way than the fastest: for people to read.
  func notes(_ packed: PackedWeights?) -> [String] {
    if let unfinished { return ["sums are finished in Swift: \(unfinished)"] }
    var notes: [String] = []
    if let unsimplified { notes.append("not in single precision: \(unsimplified)") }
    if let faint { notes.append(faint.note) }
    guard let packed, !makesOutputs(packed) else { return notes }
    if GeneratedWeights.bounds(packed) == .severalOutputs {
      notes.append(
        "sums are finished in Swift: a channel with a factor of zero or next to it may make several outputs")
    } else {
      notes.append(
        "sums are finished in Swift: these weights and biases may take them beyond ±\(sumLimit ?? .max)")
    }
    return notes
  }

  /// Whether some outputs may have to be made in Swift.
  var needsSums: Bool { needsBoundedSums || !canFinish }

  /// Whether functions for them cannot wait until weights ask for them: where all do, or where none might be made then.
  var needsSumsAtOnce: Bool { !canFinish || needsBoundedSums && !ExecutableMemory.growsFreely }

  /// Whether generated code makes the outputs with these weights.
  func makesOutputs(_ packed: PackedWeights) -> Bool {
    canFinish && (!needsBoundedSums || GeneratedWeights.isBounded(packed))
  }

  // MARK: Running

  /// The memory of one run, for as long as it takes.
  struct Memory {
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

  /// Memory for `count` sums, for the same in order, and for eight zeros.
  func sumByteCount(_ count: Int) -> Int { needsSums ? 8 * count + 64 : 0 }

  /// Makes outputs of the sums of a block of rows in Swift.
  ///
  /// Sums lie as the lanes of vectors, whose columns are `columns`; the first `count` columns are output channels from
  /// `channel` on, of `channels` in turn.
  func finish(
    _ sums: UnsafeMutableRawPointer, rows: Int, columns: LaneOrder, offsets: Int, channel: Int, channels: Int,
    count: Int, to output: UnsafeMutableRawPointer, outputStride: Int
  ) {
    guard let quantized = late?.value, let offsets = UnsafePointer<Int32>(bitPattern: offsets) else { return }
    let stride = columns.count
    let unordered = unsafe sums.assumingMemoryBound(to: Int32.self)
    let ordered = unsafe unordered + rows &* stride
    let zeros = unsafe ordered + rows &* stride
    unsafe zeros.update(repeating: 0, count: 8)
    for (place, column) in columns.enumerated() {
      let offset = unsafe offsets[place]
      for row in 0..<rows {
        unsafe ordered[row &* stride &+ column] = unordered[row &* stride &+ place] &+ offset
      }
    }
    var index = 0
    while index < count {
      let first = (channel &+ index) % channels
      let width = min(8, count &- index, channels &- first)
      unsafe quantized.store(
        ordered + index, sumStride: stride, rows: rows, bias: zeros, channel: first, count: width,
        to: (output + index).assumingMemoryBound(to: UInt8.self), outputStride: outputStride)
      index &+= width
    }
  }
}
