// SPDX-License-Identifier: Apache-2.0
import ApusKernels
import ApusRuntime

/// Packs the constant weights of one step, after the last pass.
final class WeightPacker {
  /// The operator, for messages.
  let node: Node
  /// How many bytes of packed weights the step will request, if it makes several requests.
  var expectedByteCount = 0
  /// The tensors that runs no longer read because they are packed.
  private(set) var packed: [Int] = []

  private let preparation: Preparation
  private var lease: ConstantLease?

  init(_ node: Node, _ preparation: Preparation) {
    self.node = node
    self.preparation = preparation
  }

  /// How many threads a run may use; scratch memory is sized by it.
  var threadCount: Int { node.threadCount }

  /// Scratch memory for one run of the step; its contents are undefined when a run begins.
  func scratch(byteCount: Int) throws(ApusError) -> TensorSlot {
    try preparation.scratch(byteCount: byteCount, of: node)
  }

  /// Memory of this interpreter for weights that are packed in each run.
  func weightsOfRuns(byteCount: Int) throws(ApusError) -> PackedWeights {
    try hold(byteCount)
    let weights = try packedWeights(byteCount: byteCount)
    weights.stopSignal = preparation.context.limits.signal
    return weights
  }

  /// Weights in a kernel's own layout: packed once per ``Model`` where they are constant, and shared by its
  /// interpreters; otherwise memory of this interpreter, to be packed in each run.
  ///
  /// - Parameters:
  ///   - tensors: what `pack` reads.
  ///   - layout: the layout; equal layouts mean equal bytes.
  ///   - most: the maximum size of any weights, in bytes.
  ///   - measuring: the kernel and the filter that say how many bytes constant weights need.
  ///   - copiedByteCount: the size of what `pack` makes of the constants before it packs.
  ///   - pack: called here at most once, and only if every tensor is constant.
  /// - Returns: the weights, and whether they are packed already.
  func weights(
    of tensors: [TensorSlot], layout: WeightLayout, most: Int,
    measuring: (kernel: any PreparedConvolution, filter: TensorSlot)? = nil, copiedByteCount: Int = 0,
    pack: (ConstantLease, PackedWeights) throws(ApusError) -> Void
  ) throws(ApusError) -> (weights: PackedWeights, arePacked: Bool) {
    var constants: [NamedConstant] = []
    constants.reserveCapacity(tensors.count)
    for slot in tensors {
      guard let constant = preparation.constant(slot.index) else {
        return (try weightsOfRuns(byteCount: most), false)
      }
      constants.append(.init(tensor: slot.index, constant: constant))
    }
    for slot in tensors { packed.append(slot.index) }
    let model = preparation.model
    let isShared = constants.allSatisfy { $0.constant.isOfModel }
    let key = PackedWeightsKey(
      tensor: tensors.first?.index ?? -1, others: tensors.dropFirst().map { $0.index },
      subgraph: preparation.wiring.index, layout: layout)
    if isShared, let known = model.knownWeights(key) {
      try hold(known.byteCount)
      return (known, true)
    }
    let lease = try leased(constants, distance: max(most, expectedByteCount))
    if copiedByteCount > 0 {
      let together = constants.reduce(most.addingClamped(copiedByteCount)) {
        $0.addingClamped($1.constant.leasedByteCount)
      }
      try within { () throws(ApusError) in try preparation.reserve(together) }
    }
    var byteCount = most
    if let measuring {
      byteCount = measuring.kernel.packedByteCount(for: try lease.bytes(of: measuring.filter))
    }
    try hold(byteCount)
    let made: PackedWeights
    if isShared, let interrupted = model.takeInterrupted(key, byteCount: byteCount) {
      made = interrupted
    } else {
      made = try packedWeights(byteCount: byteCount, pool: isShared ? model.packedMemory : nil)
    }
    do throws(ApusError) {
      try preparation.context.limits.checkTime()
      made.stopSignal = preparation.context.limits.signal
      try pack(lease, made)
      made.stopSignal = nil
      try preparation.context.limits.checkTime()
    } catch {
      // The model's memory cannot be given back: the next attempt takes it.
      if isShared { model.keepInterrupted(made, key) }
      throw error
    }
    return (isShared ? model.keepPacked(made, key) : made, true)
  }

  /// The constants in memory, while the step packs.
  private func leased(
    _ constants: [NamedConstant], distance: Int
  ) throws(ApusError) -> ConstantLease {
    if let lease, constants.allSatisfy({ lease.contains($0.tensor) }) { return lease }
    lease = nil
    // The constants are in memory together with the packed weights.
    let byteCount = constants.reduce(distance) { $0.addingClamped($1.constant.leasedByteCount) }
    try within { () throws(ApusError) in try preparation.reserve(byteCount) }
    let made = try ConstantLease(constants, pool: preparation.model.packedMemory, distance: distance)
    lease = made
    return made
  }

  private func packedWeights(byteCount: Int, pool: MemoryPool? = nil) throws(ApusError) -> PackedWeights {
    guard let weights = PackedWeights(ifAvailable: byteCount, pool: pool) else {
      throw ApusError(
        .resourceLimit, "\(node.place): packed weights: the system refuses \(byteCount) bytes of memory")
    }
    return weights
  }

  private func hold(_ byteCount: Int) throws(ApusError) {
    try within { () throws(ApusError) in try preparation.hold(byteCount) }
  }

  /// Names the place in errors of a request for memory.
  private func within(_ request: () throws(ApusError) -> Void) throws(ApusError) {
    do throws(ApusError) { try request() } catch {
      throw ApusError(error.code, "\(node.place): packed weights: \(error.message)")
    }
  }
}
