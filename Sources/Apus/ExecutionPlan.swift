// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// The steps of a run in order, and why each is done that way.
///
/// ```swift
/// for step in interpreter.plan.steps {
///   print(step.name, step.implementation.kernelSet, step.implementation.text)
///   for declined in step.implementation.declined { print("  not", declined.kernelSet, "as", declined.reason) }
/// }
/// ```
public struct ExecutionPlan: Hashable, Sendable {
  /// An operator of the file.
  public struct Operator: Hashable, Sendable {
    /// Its position in the subgraph.
    public let index: Int
    /// The schema's name, or the custom operator's.
    public let name: String
  }

  /// A kernel set that declined a step.
  public struct Declined: Hashable, Sendable {
    /// The set's name.
    public let kernelSet: KernelSetName
    /// The set's condition, and what it found instead.
    public let reason: String
  }

  /// The code that runs a step.
  public struct Implementation: Hashable, Sendable {
    /// The kernel set that it belongs to.
    public let kernelSet: KernelSetName
    /// How it works, in words: strategy, tiles, what happens to sums.
    public let text: String
    /// The faster sets that declined the step, with their reasons, in the order in which they were asked.
    public let declined: [Declined]
    /// Faster ways that were not taken, and why.
    public let notes: [String]
  }

  /// A tensor's place in memory.
  public struct Place: Hashable, Sendable {
    /// The tensor's name; empty for scratch memory.
    public let name: String
    /// The arena's block, see ``MemoryPlan/Entry/block``.
    public let block: Int
    /// Bytes from the block's start.
    public let offset: Int
    /// The tensor's size in bytes.
    public let byteCount: Int
  }

  /// One step of a run.
  public struct Step: Hashable, Sendable {
    /// The segment that it belongs to; models whose shapes depend on data have several.
    public let segment: Int
    /// The operators that it covers: the one that names it, then those that it absorbs.
    public let operators: [Operator]
    /// The shape of the tensor that it writes first.
    public let output: TensorShape
    /// Its outputs and scratch memory.
    public let places: [Place]
    /// The code that does the work.
    public let implementation: Implementation
    /// The multiply-accumulates of one run.
    public let multiplyAccumulates: Int

    /// The names of its operators, such as `CONV_2D + ADD + RELU`.
    public var name: String { operators.map(\.name).joined(separator: " + ") }
  }

  /// An operator without a step in a run.
  public struct Unneeded: Hashable, Sendable {
    /// The operator.
    public let `operator`: Operator
    /// Why it needs no step.
    public let reason: String
  }

  /// The steps, in order.
  public let steps: [Step]
  /// The operators without a step, except those that another step absorbs.
  public let unneeded: [Unneeded]
  /// How many operators are not planned yet, because data decides their shapes.
  public let unplannedCount: Int
}

extension Interpreter {
  /// The steps of a run in order. If data decides shapes, the plan goes as far as the last run did.
  public var plan: ExecutionPlan {
    var steps: [ExecutionPlan.Step] = []
    var unneeded: [ExecutionPlan.Unneeded] = []
    for (index, segment) in graph.segments.enumerated() {
      let plan = segment.plan
      var isDone = Set<Int>()
      var places: [Int: Layout.Place] = [:]
      for place in plan.layout.places { places[place.tensor] = place }
      for step in plan.steps {
        isDone.formUnion(step.nodes)
        steps.append(describe(step, in: plan, places, segment: index))
      }
      for node in plan.nodes where !isDone.contains(node) {
        let outputs = graph.subgraph.operators[node].outputs
        let view = outputs.first { plan.facts[$0].constant == nil }
        let reason = view.map { "has the bytes of \(graph.wiring.name(of: plan.facts[$0].root))" }
        unneeded.append(
          .init(operator: describe(node), reason: reason ?? "its results are known before a run"))
      }
    }
    let planned = graph.segments.last?.plan.nodes.upperBound ?? 0
    return ExecutionPlan(steps: steps, unneeded: unneeded, unplannedCount: graph.wiring.nodeCount - planned)
  }

  private func describe(_ node: Int) -> ExecutionPlan.Operator {
    let code = graph.subgraph.operators[node].operatorCode
    return .init(index: node, name: model.file.operatorCodes[code].name)
  }

  private func describe(
    _ step: Step, in plan: SegmentPlan, _ all: [Int: Layout.Place], segment: Int
  ) -> ExecutionPlan.Step {
    // The places of tensors, then those of scratch memory.
    let touched = Set(step.writes + step.scratch).compactMap { all[$0] }
    let places = touched.sorted { $0.tensor < $1.tensor }.map {
      ExecutionPlan.Place(
        name: $0.tensor < graph.wiring.tensorCount ? graph.subgraph.tensors[$0.tensor].name : "",
        block: plan.index + 1, offset: $0.offset, byteCount: $0.byteCount)
    }
    return .init(
      segment: segment, operators: step.nodes.map(describe),
      output: step.writes.first.flatMap { plan.facts[$0].shape } ?? [],
      places: places.filter { $0.byteCount > 0 }, implementation: step.implementation.description,
      multiplyAccumulates: step.multiplyAccumulates)
  }
}

/// How an operator does its work.
struct Implementation {
  /// How it works.
  var text: String
  /// Which set it was chosen from, and why.
  var choice: KernelChoice
  /// Faster ways that were not taken.
  var notes: [String] = []

  /// Plain Swift, shared by all kernel sets.
  static let plain = Implementation(
    text: "plain Swift, the same for all kernel sets", choice: .plain)

  fileprivate var description: ExecutionPlan.Implementation {
    .init(
      kernelSet: KernelSetName(rawValue: choice.set), text: text,
      declined: choice.declined.map { .init(kernelSet: KernelSetName(rawValue: $0.set), reason: $0.reason) },
      notes: choice.notes + notes)
  }
}
