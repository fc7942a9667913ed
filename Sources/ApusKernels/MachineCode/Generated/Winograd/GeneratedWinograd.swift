// SPDX-License-Identifier: Apache-2.0

/// A convolution with a 3×3 filter by Winograd's way: of bytes, exact with a quarter of the products; of floats, with four
/// ninths of them.
///
/// Where weights or biases are such that sums of bytes might not be exact, the direct way serves.
final class GeneratedWinograd: PreparedConvolution, @unchecked Sendable {
  let convolution: Convolution
  let plan: GeneratedWinogradPlan
  /// Nil for floats.
  let operands: ByteOperands?
  let weightPacking: GeneratedWinogradPacking
  let gathering: GeneratedGathering
  let inputs: GeneratedFunction
  let weights: GeneratedFunction
  let products: GeneratedFunctions
  let outputs: GeneratedFunctions
  /// A block of factors for each panel.
  let factors: UnsafeMutableRawPointer
  let factorByteCount: Int
  /// The one tap of all products: its offset and its count of steps.
  let tap: UnsafeMutablePointer<Int>
  private let direct: (any PreparedConvolution)?
  private let targetName: String
  private let outputForm: String

  /// Prepares a convolution; throws where this cannot be done or, unless that is not asked, takes longer.
  init(
    _ convolution: Convolution, target: any GeneratedTarget, bytes: GeneratedProduct, reckons: Bool,
    placement: CodePlacement
  ) throws(Decline) {
    let plan = try GeneratedWinogradPlan(convolution, target: target, bytes: bytes, reckons: reckons)
    let operands = convolution.operands.bytes
    let isSigned = operands?.signFlip == 0x80
    inputs = try GeneratedFunction(
      target.winogradGenerator(.inputs(plan.form, isSigned: isSigned)), placement: placement)
    weights = try GeneratedFunction(
      target.winogradGenerator(.weights(plan.form, isSigned: isSigned)), placement: placement)
    products = try GeneratedFunctions(
      plan.productShapes, placement: placement,
      generator: { target.generator(plan.form.product, convolution.operands, nil, $0) })
    outputs = try GeneratedFunctions(
      plan.outputShapes, placement: placement,
      generator: { target.winogradGenerator(.outputs(convolution.operands, convolution.epilogue, $0)) })
    weightPacking = GeneratedWinogradPacking(
      plan: plan, operands: operands, sumLimit: target.sumLimit ?? .max)
    if operands == nil {
      direct = nil
    } else {
      // If it is only for biases that no converter writes, it need not be fast.
      direct =
        weightPacking.isAlwaysExact
        ? try PortableByteConvolution(convolution)
        : try GeneratedConvolution(convolution, target: target, bytes: bytes, placement: placement)
    }
    self.convolution = convolution
    self.plan = plan
    self.operands = operands
    targetName = target.name
    outputForm = target.form(convolution.operands, convolution.epilogue)
    gathering = GeneratedGathering(
      lanes: operands.map {
        .bytes(padding: UInt8(truncatingIfNeeded: $0.lhsZeroPoint) ^ $0.signFlip)
      } ?? .floats,
      inputHeight: convolution.inputHeight, inputWidth: convolution.inputWidth,
      inputChannels: convolution.inputChannels, paddingTop: convolution.paddingTop,
      paddingLeft: convolution.paddingLeft, strideHeight: 1, reachHeight: 3, isDense: false,
      planeWidth: plan.planeWidth, channels: convolution.inputChannels, phases: 1,
      phaseWidth: plan.planeWidth, depthMultiplier: 1)
    unsafe tap = .allocate(capacity: 2)
    unsafe tap[0] = 0
    unsafe tap[1] = plan.stepCount
    factorByteCount = target.factorByteCount
    unsafe factors = .allocate(byteCount: plan.panels.count * factorByteCount, alignment: 64)
    unsafe target.fillFactors(
      factors, convolution.operands, convolution.epilogue, blockCount: plan.panels.count,
      lanes: plan.lanes(panel:))
  }

  deinit {
    unsafe tap.deallocate()
    unsafe factors.deallocate()
  }

  // MARK: Reading

  var implementation: String { "\(plan.text), \(outputForm)" }

  func notes(_ packed: PackedWeights?) -> [String] {
    guard let packed, let direct, !GeneratedWinogradPacking.isPacked(packed) else { return [] }
    return ["not Winograd's way: these weights and biases may take sums beyond what it is exact for"]
      + ["instead: \(direct.implementation)"] + direct.notes(packed)
  }

  // MARK: Packing

  var packing: WeightLayout {
    let numbers = [convolution.inputChannels, convolution.outputChannels]
    return direct?.packing.of("or winograd", numbers: numbers)
      ?? WeightLayout("winograd", targetName, numbers: numbers)
  }

  var packedByteCount: Int { max(weightPacking.byteCount, direct?.packedByteCount ?? 0) }

  func packedByteCount(for weights: RawSpan) -> Int {
    max(weightPacking.byteCount, direct?.packedByteCount(for: weights) ?? 0)
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    if weightPacking.pack(weights: weights, bias: bias, into: packed) { return }
    direct?.pack(weights: weights, bias: bias, into: packed)
  }

  // MARK: Running

  func scratchByteCount(threads: Int) -> Int {
    // A team may turn out to be one thread.
    let most = max(threads * plan.cut(threads: threads).byteCount, plan.cut(threads: 1).byteCount)
    return max(64 + most, direct?.scratchByteCount(threads: threads) ?? 0)
  }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    if let direct, !GeneratedWinogradPacking.isPacked(packed) {
      return direct.run(packed, input: input, output: &output, scratch: &scratch, threads: threads)
    }
    unsafe run(
      packed, input: input, finish: nil, other: nil, output: &output, scratch: &scratch, threads: threads)
  }

  /// As above, with something done to the outputs, for which another tensor as large may be needed.
  func run(
    _ packed: PackedWeights, input: RawSpan, finish: FloatFinish?, other: UnsafePointer<Float>?,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    let elementByteCount = plan.form.elementByteCount
    precondition(
      input.byteCount >= convolution.inputCount * elementByteCount
        && output.byteCount >= convolution.outputCount * elementByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    ExecutableMemory.seal()
    let threads = plan.isSmall ? threads.alone : threads.fitting(nanoseconds: plan.nanoseconds)
    let cut = plan.cut(threads: threads.count)
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      let work = unsafe Work(
        owner: .passUnretained(self), packed: packed.address, cut: cut, input: input, output: output,
        scratch: scratch.alignedUp(toMultipleOf: 64), finish: finish.map { .passUnretained($0) },
        other: other)
      threads.run(tiles: cut.tiling.count, work)
    }
  }

  /// One run: pointers that live as long as its call.
  struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: Unmanaged<GeneratedWinograd>
    let packed: UnsafeMutableRawPointer
    let cut: GeneratedWinogradPlan.Cut
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer
    let finish: Unmanaged<FloatFinish>?
    let other: UnsafePointer<Float>?

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef {
        unsafe $0.run(self, tile: tile, scratch: scratch + worker &* cut.byteCount)
      }
    }
  }
}

extension GeneratedWinograd: GeneratedFinishing {
  /// Itself, where outputs are floats.
  var finishing: (any FinishingConvolution)? { plan.form == .floats ? self : nil }
}
