// SPDX-License-Identifier: Apache-2.0
import ApusAssembly
import ApusKernels

/// An elementwise operator, or a reduction of a float matrix, as a stage of a chain.
struct ChainStep {
  let stage: ChainStage
  let operands: [TensorSlot]
  let output: TensorSlot
}

extension Pass {
  /// **Rule:** connected elementwise operators become one step, at the position of the last. Their results
  /// have one shape, and apart from the last one's have consumers inside the chain only.
  ///
  /// **Reason:** elementwise operators are bound by memory; a chain reads its inputs and writes its output
  /// once.
  package static let chains = Pass(
    "chains",
    .segment { (plan, preparation) throws(ApusError) in try plan.joinChains(preparation) })
}

extension PlanDraft {
  fileprivate func joinChains(_ preparation: Preparation) throws(ApusError) {
    guard contains(where: { $0.elementwise != nil }) else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    let writers = writers
    for index in steps.indices.reversed() where !isAbsorbed[index] {
      try limits.checkTime(at: index)
      let members = chain(endingAt: index, writers: writers)
      guard members.count > 1, let joined = try joined(members, preparation) else {
        continue
      }
      for member in members.dropLast() { isAbsorbed[member] = true }
      steps[index] = joined
    }
    removeSteps { isAbsorbed[$0] }
  }

  /// The steps of the chain that ends at `end`, in order.
  private func chain(endingAt end: Int, writers: [Int]) -> [Int] {
    guard let last = steps[end].facet.elementwise else { return [] }
    return members(
      endingAt: end, writers: writers,
      accepts: { step, tensor in
        guard let stage = step.facet.elementwise else { return false }
        return stage.output.index == tensor && stage.output.shape == last.output.shape
      })
  }

  /// The step at `end` and its producers, direct and indirect, whose results have consumers among these steps
  /// only; in order.
  ///
  /// - Parameters:
  ///   - writers: The step that writes each tensor, or −1.
  ///   - accepts: Whether a step that writes a tensor may join.
  func members(
    endingAt end: Int, writers: [Int], accepts: (Step, Int) -> Bool
  ) -> [Int] {
    var members = [end]
    var next = 0
    while next < members.count, members.count < Chain.maximumStages {
      for operand in steps[members[next]].facet.chainStep?.operands ?? [] {
        let tensor = operand.index
        guard tensor < wiring.tensorCount, facts[tensor].root == tensor, facts[tensor].constant == nil,
          !wiring.isVariable(tensor), !wiring.isOutput[tensor], writers[tensor] >= 0,
          !members.contains(writers[tensor]), accepts(steps[writers[tensor]], tensor),
          wiring.readers(of: tensor).allSatisfy({ reader in members.contains { steps[$0].does(reader) } }),
          steps[writers[tensor]].reads.allSatisfy({ !isVariable($0) })
        else { continue }
        members.append(writers[tensor])
        // All consumers of a producer that was refused before may now be members.
        next = -1
        break
      }
      next += 1
    }
    return members.sorted()
  }

  /// The source of a chain's operand: the result of a stage, or one of the chain's inputs, to which a new one
  /// is appended.
  private func source(
    of operand: TensorSlot, _ results: [Int], _ inputs: inout [TensorSlot]
  ) -> Chain.Source {
    if let stage = results.firstIndex(of: operand.index) { return .stage(stage) }
    if let known = inputs.firstIndex(where: { $0.index == operand.index }) { return .tensor(known) }
    inputs.append(operand)
    return .tensor(inputs.count - 1)
  }

  /// Adds scratch memory for a chain.
  private func scratch(for chain: Chain, threadCount: Int) -> TensorSlot {
    let byteCount = chain.scratchByteCount(threads: threadCount)
    scratchByteCounts.append(byteCount)
    return TensorSlot(
      index: wiring.tensorCount + scratchByteCounts.count - 1, entry: nil, type: .uint8, shape: [byteCount],
      isConstant: false)
  }

  /// One step that computes the operators of several.
  func joined(_ members: [Int], _ preparation: Preparation) throws(ApusError) -> Step? {
    var stages: Chain.Stages = []
    var inputs: [TensorSlot] = []
    var results: [Int] = []
    for member in members {
      guard let step = steps[member].facet.chainStep else { return nil }
      stages.append((step.stage, step.operands.map { source(of: $0, results, &inputs) }))
      results.append(step.output.index)
    }
    guard let last = members.last, let output = steps[last].facet.chainStep?.output else { return nil }
    if let input = inputs.first(where: { facts[$0.index].constant == nil }),
      let operation = try tabulated(stages, inputs, input: input, output: output, preparation)
    {
      return steps[last].doing(
        operation, absorbing: members.dropLast().map { steps[$0] }, reads: [input.index])
    }
    let chain: Chain
    do throws(Decline) {
      chain = try Chain(stages, tensorCount: inputs.count, using: kernels)
    } catch {
      steps[last] = steps[last].declining(error)
      return nil
    }
    let scratch = scratch(for: chain, threadCount: preparation.context.threads.count)
    return steps[last].doing(
      ChainOperator(chain, inputs, output: output, scratch: scratch),
      absorbing: members.dropLast().map { steps[$0] }, reads: inputs.map(\.index), scratch: [scratch.index])
  }

  /// **Rule:** a chain from one tensor of bytes, and constants, to bytes is a table lookup.
  ///
  /// **Reason:** converters leave float functions between DEQUANTIZE and QUANTIZE; they have 256 results per
  /// channel.
  private func tabulated(
    _ stages: Chain.Stages, _ inputs: [TensorSlot], input: TensorSlot, output: TensorSlot,
    _ preparation: Preparation
  ) throws(ApusError) -> (any Operator)? {
    guard [.int8, .uint8].contains(input.type), [.int8, .uint8].contains(output.type),
      input.shape == output.shape, let depth = output.shape.dimensions.last
    else { return nil }
    var constants: [UnsafeRawBufferPointer?] = unsafe []
    for slot in inputs {
      guard let constant = facts[slot.index].constant else {
        unsafe constants.append(nil)
        continue
      }
      // At most one number per channel.
      guard constant.byteCount / MemoryLayout<Float>.size <= depth else { return nil }
      let buffer = try preparation.pinned(constant)
      unsafe constants.append(UnsafeRawBufferPointer(start: buffer.base, count: buffer.byteCount))
    }
    let tabulated = withExtendedLifetime(facts) {
      unsafe Chain.tabulated(stages, constants, depth: depth)
    }
    switch tabulated {
    case .table(let table): return UnaryOperator(table, input: input, output: output, using: kernels)
    case .channels(let kernel):
      try preparation.hold(256 * depth)
      return UnaryOperator(kernel, choice: .plain, input: input, output: output)
    case nil: return nil
    }
  }
}
