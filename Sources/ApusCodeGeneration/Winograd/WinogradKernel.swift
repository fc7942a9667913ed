// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// A convolution with a 3×3 filter by Winograd's method: a quarter of the multiplications for bytes, with
/// exact results; four ninths for floats.
///
/// Direct convolution replaces it for weights and biases with which sums of bytes might not be exact.
@safe final class WinogradKernel: PreparedConvolution, @unchecked Sendable {
  // @unchecked: `general` is created under a lock, and read only by its creator's callers.

  let convolution: Convolution
  let plan: WinogradPlan
  /// Nil for floats.
  let operands: ByteOperands?
  let weightPacking: WinogradPacking
  let gathering: TileGathering
  let inputs: CodeFunction<ConvolutionArguments>
  let weights: CodeFunction<ConvolutionArguments>
  let products: BlockFunctions
  /// The functions with the usual epilogue, and those that are exact for any sum, which few biases need.
  private let outputs: EpilogueCode
  private var general: EpilogueCode?
  /// The tap list of all products, with one tap: its offset and its number of K-steps.
  let tap: UnsafeMutablePointer<Int>
  private let direct: (any PreparedConvolution)?
  private let target: any CodeTarget

  /// Prepares a convolution; throws if Winograd's method cannot compute it, or with `comparesCost` is estimated to
  /// be slower.
  init(
    _ convolution: Convolution, target: any CodeTarget, bytes: ProductKind, machine: MachineModel,
    comparesCost: Bool, isForOneThread: Bool, placement: CodePlacement
  ) throws(Decline) {
    let plan = try WinogradPlan(convolution, target: target, bytes: bytes, comparesCost: comparesCost)
    let operands = convolution.operands.bytes
    let isSigned = operands?.signFlip == 0x80
    inputs = try unsafe CodeFunction(
      target.winograd?.generator(.inputs(plan.variant, isSigned: isSigned)), placement: placement)
    weights = try unsafe CodeFunction(
      target.winograd?.generator(.weights(plan.variant, isSigned: isSigned)), placement: placement)
    products = try unsafe BlockFunctions(
      plan.productShapes, placement: placement,
      generator: { target.generator(plan.variant.product, convolution.operands, nil, $0) })
    outputs = try unsafe Self.code(.stated(convolution.epilogue), plan, target, placement)
    if let epilogue = Self.general(convolution, target), !ExecutableMemory.growsFreely {
      // Later there might be no executable memory for it.
      general = unsafe try Self.code(epilogue, plan, target, placement)
    }
    weightPacking = WinogradPacking(
      plan: plan, operands: operands, sumLimit: target.sumLimit(.stated(convolution.epilogue)) ?? .max)
    direct =
      unsafe weightPacking.isAlwaysExact
      ? nil
      : try ProductKernel(
        convolution, target: target, bytes: bytes, machine: machine,
        isForOneThread: isForOneThread, placement: placement)
    self.convolution = convolution
    self.plan = plan
    self.operands = operands
    self.target = target
    gathering = TileGathering(
      convolution,
      operands.map { .bytes(padding: UInt8(truncatingIfNeeded: $0.lhsZeroPoint) ^ $0.signFlip) } ?? .floats,
      planeWidth: plan.planeWidth, channels: convolution.inputChannels)
    unsafe tap = .allocate(capacity: 2)
    unsafe tap[0] = 0
    unsafe tap[1] = plan.stepCount
  }

  deinit { unsafe tap.deallocate() }

  /// The functions and factors for an epilogue.
  private static func code(
    _ epilogue: LoweredEpilogue, _ plan: WinogradPlan, _ target: any CodeTarget,
    _ placement: CodePlacement
  ) throws(Decline) -> EpilogueCode {
    let operands = plan.convolution.operands
    return unsafe EpilogueCode(
      epilogue, operands, target: target, blockCount: plan.panels.count, lanes: plan.lanes(panel:),
      functions: try BlockFunctions(
        plan.outputShapes, placement: placement,
        generator: { target.winograd?.generator(.outputs(operands, epilogue, $0)) }),
      runFunctions: .none)
  }

  /// The epilogue for sums beyond the limit; nil if there is no limit.
  private static func general(_ convolution: Convolution, _ target: any CodeTarget) -> LoweredEpilogue? {
    target.sumLimit(.stated(convolution.epilogue)) == nil
      ? nil : LoweredEpilogue(ofAnySum: convolution.epilogue)
  }

  /// The functions and factors that these weights need.
  private func code(for packed: PackedWeights) -> EpilogueCode {
    guard operands != nil, WinogradPacking.isUnbounded(packed),
      let epilogue = Self.general(convolution, target)
    else { return outputs }
    return unsafe EpilogueCode.made(&general) { placement throws(Decline) in
      try unsafe Self.code(epilogue, plan, target, placement)
    }
  }

  // MARK: Reading

  var implementation: String {
    "\(plan.text), \(target.epilogueText(convolution.operands, .stated(convolution.epilogue)))"
  }

  /// Squares are cut from each image alone, and each is summed by itself.
  var summation: String? { "\(target.name), Winograd convolution" }

  func notes(_ packed: PackedWeights?) -> [String] {
    guard let packed, operands != nil else { return [] }
    if WinogradPacking.isUnbounded(packed) {
      return ["step by step: these weights and biases may take sums beyond ±\(weightPacking.sumLimit)"]
    }
    guard let direct, !WinogradPacking.isPacked(packed) else { return [] }
    return ["not Winograd convolution: these weights and biases may take sums beyond what it is exact for"]
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
    // A team may shrink to one thread.
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

  /// Runs the convolution and then the post-operations, which may read `other`, a second tensor of the
  /// output's size.
  func run(
    _ packed: PackedWeights, input: RawSpan, postOperations: PostOperations?, other: UnsafePointer<Float>?,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    let elementByteCount = plan.variant.elementByteCount
    precondition(
      input.byteCount >= convolution.inputCount * elementByteCount
        && output.byteCount >= convolution.outputCount * elementByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    let code = code(for: packed)
    ExecutableMemory.seal()
    let threads = threads.fitting(nanoseconds: plan.nanoseconds)
    let cut = plan.cut(threads: threads.count)
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      let work = unsafe Work(
        owner: .passUnretained(self), packed: packed.address, code: .passUnretained(code), cut: cut,
        input: input, output: output, scratch: scratch.alignedUp(toMultipleOf: 64),
        postOperations: postOperations.map { unsafe .passUnretained($0) }, other: other)
      withExtendedLifetime(code) { threads.run(tiles: cut.tiling.count, work) }
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: Unmanaged<WinogradKernel>
    let packed: UnsafeMutableRawPointer
    let code: Unmanaged<EpilogueCode>
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
  /// The kernel itself if its outputs are floats, otherwise nil.
  var postOperating: (any PostOperatingConvolution)? { plan.variant == .floats ? self : nil }
}
