// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// An unfinished plan of one segment: the steps so far and what is known about tensors. Each pass changes it.
final class PlanDraft {
  /// How the file connects operators.
  let wiring: Wiring
  /// The kernels to prefer.
  let kernels: KernelSet
  /// The steps, in order.
  var steps: [Step]
  /// The facts about each tensor of the file.
  var facts: [TensorFacts]
  /// The size of each piece of scratch memory; the first is tensor `wiring.tensorCount`.
  var scratchByteCounts: [Int]
  /// The limits of preparation.
  let limits: RunLimits
  /// The operators of the segment.
  var nodes: Range<Int>
  /// When each tensor is in use, if memory is reused; nil if each keeps its memory.
  var liveRanges: LiveRanges?
  /// For each tensor, the one whose bytes it overwrites; empty if none does.
  var overwritten: [Int] = []
  /// Where tensors are, once the last pass has placed them.
  var layout = Layout()

  init(_ wiring: Wiring, kernels: KernelSet, after start: PlanStart, limits: RunLimits) {
    self.wiring = wiring
    self.kernels = kernels
    steps = []
    facts = start.facts
    scratchByteCounts = start.scratchByteCounts
    self.limits = limits
    nodes = start.nextNode..<start.nextNode
  }

  /// For each tensor: the step that writes it, or −1.
  var writers: [Int] {
    var writers = Array(repeating: -1, count: wiring.tensorCount)
    for index in steps.indices {
      for tensor in steps[index].writes where tensor < writers.count { writers[tensor] = index }
    }
    return writers
  }

  /// Whether a pass has any candidate; most models lack candidates for most passes.
  func contains(where isCandidate: (Facet) -> Bool) -> Bool {
    steps.contains { isCandidate($0.facet) }
  }

  /// Removes absorbed steps.
  func removeSteps(where isAbsorbed: (Int) -> Bool) {
    guard steps.indices.contains(where: isAbsorbed) else { return }
    steps = steps.indices.filter { !isAbsorbed($0) }.map { steps[$0] }
  }

  /// Whether a tensor is read by this step alone, and neither by the caller nor by the next run.
  func isRead(_ tensor: Int, byNoneBut step: Step) -> Bool {
    tensor < wiring.tensorCount && !wiring.isOutput[tensor] && !wiring.isVariable(tensor)
      && wiring.readers(of: tensor).allSatisfy(step.does)
  }

  /// Whether a tensor, or the one whose bytes it shares, is a variable.
  func isVariable(_ tensor: Int) -> Bool {
    tensor < wiring.tensorCount && wiring.isVariable(facts[tensor].root)
  }

  /// The size of a tensor whose shape is known, or of a piece of scratch memory.
  func byteCount(of tensor: Int) throws(ApusError) -> Int {
    tensor < wiring.tensorCount
      ? try wiring.byteCount(of: tensor, shape: facts[tensor].shape)
      : scratchByteCounts[tensor - wiring.tensorCount]
  }
}

extension Wiring {
  /// The size of a tensor of a shape; zero if the shape is not known.
  func byteCount(of tensor: Int, shape: TensorShape?) throws(ApusError) -> Int {
    guard let width = types[tensor].storedByteCount else {
      throw ApusError(
        .unsupportedOperator, "tensor \(name(of: tensor)): type \(types[tensor]) is not supported")
    }
    let (count, overflow) = (shape?.elementCount ?? 0).multipliedReportingOverflow(by: width)
    guard !overflow, count < .max / 2 else {
      throw ApusError(
        .resourceLimit, "tensor \(name(of: tensor)): \(shape ?? []) takes more bytes than can be counted")
    }
    return count
  }
}
