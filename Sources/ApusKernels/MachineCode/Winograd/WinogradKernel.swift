// SPDX-License-Identifier: Apache-2.0

/// A convolution with a 3×3 filter by Winograd's way: of bytes, exact with a quarter of the products; of floats, with four
/// ninths of them.
///
/// Where weights or biases are such that sums of bytes might not be exact, the direct way serves.
@safe final class WinogradKernel: PreparedConvolution, @unchecked Sendable {
  // @unchecked: `general` is made under a lock, and read where it was made.

  let convolution: Convolution
  let plan: WinogradPlan
  /// Nil for floats.
  let operands: ByteOperands?
  let weightPacking: WinogradPacking
  let gathering: TileGathering
  let inputs: CodeFunction<ConvolutionArguments>
  let weights: CodeFunction<ConvolutionArguments>
  let products: BlockFunctions
  /// What makes outputs, and what makes those of any sums, which few biases need.
  private let outputs: OutputForm
  private var general: OutputForm?
  /// The one tap of all products: its offset and its count of steps.
  let tap: UnsafeMutablePointer<Int>
  private let direct: (any PreparedConvolution)?
  private let target: any CodeTarget

  /// Prepares a convolution; throws where this cannot be done or, unless that is not asked, takes longer.
  init(
    _ convolution: Convolution, target: any CodeTarget, bytes: ProductKind, reckons: Bool,
    isForOneThread: Bool, placement: CodePlacement
  ) throws(Decline) {
    let plan = try WinogradPlan(convolution, target: target, bytes: bytes, reckons: reckons)
    let operands = convolution.operands.bytes
    let isSigned = operands?.signFlip == 0x80
    inputs = try unsafe CodeFunction(
      target.winograd?.generator(.inputs(plan.form, isSigned: isSigned)), placement: placement)
    weights = try unsafe CodeFunction(
      target.winograd?.generator(.weights(plan.form, isSigned: isSigned)), placement: placement)
    products = try unsafe BlockFunctions(
      plan.productShapes, placement: placement,
      generator: { target.generator(plan.form.product, convolution.operands, nil, $0) })
    outputs = try unsafe Self.form(.stated(convolution.epilogue), plan, target, placement)
    if let epilogue = Self.general(convolution, target), !ExecutableMemory.growsFreely {
      // None might be made then.
      general = unsafe try Self.form(epilogue, plan, target, placement)
    }
    weightPacking = WinogradPacking(
      plan: plan, operands: operands, sumLimit: target.sumLimit(.stated(convolution.epilogue)) ?? .max)
    direct =
      unsafe weightPacking.isAlwaysExact
      ? nil
      : try ProductKernel(
        convolution, target: target, bytes: bytes, pipes: target.pipes,
        isForOneThread: isForOneThread, placement: placement)
    self.convolution = convolution
    self.plan = plan
    self.operands = operands
    self.target = target
    gathering = TileGathering(
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
  }

  deinit { unsafe tap.deallocate() }

  /// What makes outputs with an epilogue.
  private static func form(
    _ epilogue: LoweredEpilogue, _ plan: WinogradPlan, _ target: any CodeTarget,
    _ placement: CodePlacement
  ) throws(Decline) -> OutputForm {
    let operands = plan.convolution.operands
    return unsafe OutputForm(
      epilogue, operands, target: target, blockCount: plan.panels.count, lanes: plan.lanes(panel:),
      functions: try BlockFunctions(
        plan.outputShapes, placement: placement,
        generator: { target.winograd?.generator(.outputs(operands, epilogue, $0)) }),
      runFunctions: .none)
  }

  /// The epilogue of sums that are beyond the limit; nil where there is none.
  private static func general(_ convolution: Convolution, _ target: any CodeTarget) -> LoweredEpilogue? {
    target.sumLimit(.stated(convolution.epilogue)) == nil
      ? nil : LoweredEpilogue(ofAnySum: convolution.epilogue)
  }

  /// What makes outputs of these weights.
  private func form(for packed: PackedWeights) -> OutputForm {
    guard operands != nil, WinogradPacking.isUnbounded(packed),
      let epilogue = Self.general(convolution, target)
    else { return outputs }
    return unsafe OutputForm.made(&general) { placement throws(Decline) in
      try unsafe Self.form(epilogue, plan, target, placement)
    }
  }

  // MARK: Reading

  var implementation: String {
    "\(plan.text), \(target.form(convolution.operands, .stated(convolution.epilogue)))"
  }

  /// Squares are cut from each image alone, and each is summed by itself.
  var summation: String? { "\(target.name), Winograd's way" }

  func notes(_ packed: PackedWeights?) -> [String] {
    guard let packed, operands != nil else { return [] }
    if WinogradPacking.isUnbounded(packed) {
      return ["step by step: these weights and biases may take sums beyond ±\(weightPacking.sumLimit)"]
    }
    guard let direct, !WinogradPacking.isPacked(packed) else { return [] }
    return ["not Winograd's way: these weights and biases may take sums beyond what it is exact for"]
      + ["instead: \(direct.implementation)"] + direct.notes(packed)
  }

  // MARK: Packing

  var packing: WeightLayout {
    var numbers = [convolution.inputChannels, convolution.outputChannels, weightPacking.sumLimit]
    if let direct { return direct.packing.of("or winograd", numbers: numbers) }
    if let operands { numbers += [Int(operands.lhsZeroPoint), Int(operands.rhsZeroPoint)] }
    return WeightLayout("winograd", target.name, numbers: numbers)
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
    if let direct, !WinogradPacking.isPacked(packed) {
      return direct.run(packed, input: input, output: &output, scratch: &scratch, threads: threads)
    }
    unsafe run(
      packed, input: input, postOperations: nil, other: nil, output: &output, scratch: &scratch,
      threads: threads)
  }

  /// As above, with something done to the outputs, for which another tensor as large may be needed.
  func run(
    _ packed: PackedWeights, input: RawSpan, postOperations: PostOperations?, other: UnsafePointer<Float>?,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    let elementByteCount = plan.form.elementByteCount
    precondition(
      input.byteCount >= convolution.inputCount * elementByteCount
        && output.byteCount >= convolution.outputCount * elementByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    let form = form(for: packed)
    ExecutableMemory.seal()
    let threads = threads.fitting(nanoseconds: plan.nanoseconds)
    let cut = plan.cut(threads: threads.count)
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      let work = unsafe Work(
        owner: .passUnretained(self), packed: packed.address, form: .passUnretained(form), cut: cut,
        input: input, output: output, scratch: scratch.alignedUp(toMultipleOf: 64),
        postOperations: postOperations.map { unsafe .passUnretained($0) }, other: other)
      withExtendedLifetime(form) { threads.run(tiles: cut.tiling.count, work) }
    }
  }

  /// One run: pointers that live as long as its call.
  @safe struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: Unmanaged<WinogradKernel>
    let packed: UnsafeMutableRawPointer
    let form: Unmanaged<OutputForm>
    let cut: WinogradPlan.Cut
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer
    let postOperations: Unmanaged<PostOperations>?
    let other: UnsafePointer<Float>?

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef {
        unsafe $0.run(self, tile: tile, scratch: scratch + worker &* cut.byteCount)
      }
    }
  }
}

extension WinogradKernel: PostOperatingKernel {
  /// Itself, where outputs are floats.
  var postOperating: (any PostOperatingConvolution)? { plan.form == .floats ? self : nil }
}
