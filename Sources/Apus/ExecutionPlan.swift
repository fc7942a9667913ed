// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// What a run does, step by step, and why it is done that way.
///
/// ```swift
/// for step in interpreter.plan.steps {
///   print(step.name, step.implementation.kernelSet, step.implementation.text)
///   for declined in step.implementation.declined { print("  not", declined.kernelSet, "as", declined.reason) }
/// }
/// ```
public struct ExecutionPlan: Sendable {
  /// An operator of the file.
  public struct Operator: Hashable, Sendable {
    /// Its position in the subgraph.
    public let index: Int
    /// The schema's name, or the custom operator's.
    public let name: String
  }

  /// A set of kernels that was asked and has none for a step.
  public struct Declined: Hashable, Sendable {
    /// The set's name.
    public let kernelSet: String
    /// What it looked for, and what it found.
    public let reason: String
  }

  /// What does the work of a step.
  public struct Implementation: Hashable, Sendable {
    /// The set of kernels that it is of.
    public let kernelSet: String
    /// How it works, in words: strategy, tiles, what becomes of sums.
    public let text: String
    /// The preferred sets that have no kernel for the step, with their reasons, in the order in which they were asked.
    public let declined: [Declined]
    /// Faster ways that were passed over, and why.
    public let notes: [String]
  }

  /// Where a tensor lies in memory.
  public struct Place: Hashable, Sendable {
    /// The tensor's name; empty for memory that a step works in.
    public let name: String
    /// The arena's block, see ``MemoryPlan/Entry/block``.
    public let block: Int
    /// Bytes from the block's start.
    public let offset: Int
    /// The tensor's bytes.
    public let byteCount: Int
  }

  /// One thing to do.
  public struct Step: Sendable {
    /// The part of the plan that it belongs to; models whose shapes depend on data have several.
    public let segment: Int
    /// The operators that it does: the one that gives it its name, then those that it has absorbed.
    public let operators: [Operator]
    /// The shape of the tensor that it writes first.
    public let output: TensorShape
    /// What it writes, and the memory that it works in.
    public let places: [Place]
    /// What does the work.
    public let implementation: Implementation
    /// The multiplications, each with an addition, of one run.
    public let multiplyAccumulates: Int

    /// The names of its operators, such as `CONV_2D + ADD + RELU`.
    public var name: String { operators.map(\.name).joined(separator: " + ") }
  }

  /// An operator that takes no step of its own in a run.
  public struct Unneeded: Sendable {
    /// The operator.
    public let `operator`: Operator
    /// Why nothing is left to do.
    public let reason: String
  }

  /// What to do, in order.
  public let steps: [Step]
  /// The operators without a step of their own, those that others have absorbed apart.
  public let unneeded: [Unneeded]
  /// The operators that are planned once the model has run up to them, as data decides their shapes.
  public let unplannedCount: Int
}

extension Interpreter {
  /// What a run does, step by step, as far as it is planned: where data decides shapes, up to where the last run came.
  public var plan: ExecutionPlan {
    var steps: [ExecutionPlan.Step] = []
    var unneeded: [ExecutionPlan.Unneeded] = []
    for (index, segment) in graph.segments.enumerated() {
      let plan = segment.plan
      var isDone = Set<Int>()
      for step in plan.steps {
        isDone.formUnion(step.nodes)
        steps.append(describe(step, in: plan, segment: index))
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

  private func describe(_ step: Step, in plan: SegmentPlan, segment: Int) -> ExecutionPlan.Step {
    let touched = step.writes + step.scratch
    let places = plan.layout.places.filter { touched.contains($0.tensor) }.map {
      ExecutionPlan.Place(
        name: $0.tensor < graph.wiring.tensorCount ? graph.wiring.name(of: $0.tensor) : "",
        block: plan.index + 1, offset: $0.offset, byteCount: $0.byteCount)
    }
    return .init(
      segment: segment, operators: step.nodes.map(describe),
      output: step.writes.first.flatMap { plan.facts[$0].shape } ?? [],
      places: places.filter { $0.byteCount > 0 }, implementation: step.operation.implementation.description,
      multiplyAccumulates: step.multiplyAccumulates)
  }
}

/// What an operator knows of its kernel.
struct Implementation {
  /// How it works.
  var text: String
  /// Which set took it; nil for code that is the same for all.
  var choice: KernelChoice?
  /// Faster ways that were passed over.
  var notes: [String] = []

  /// Plain Swift, of which there is only one form.
  static let plain = Implementation(text: "plain Swift, the same for all kernel sets")

  fileprivate var description: ExecutionPlan.Implementation {
    .init(
      kernelSet: choice?.set ?? KernelSet.portable.name, text: text,
      declined: choice?.declined.map { .init(kernelSet: $0.set, reason: $0.reason) } ?? [], notes: notes)
  }
}
