// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// The proof that each row of a run's outputs depends on the same row of its inputs alone, with the facts
/// that its bytes depend on besides.
///
/// A *row* is the part of a tensor at one index of its first axis: one item of a batch. The proof walks the
/// graph as it is planned, with the shapes of this batch, and finds for each tensor whether its rows come
/// from the rows of the inputs, one from one. It keeps the facts that it relied on besides the batch (the
/// shapes of rows, values, orders of additions): two runs with equal facts compute the same function of a
/// row, and so give it the same bytes.
struct RowProof {
  /// How a tensor depends on the batch.
  enum Kind {
    /// Each row depends on the same row of the inputs alone.
    case rows
    /// Values that do not depend on the batch.
    case fixed
    /// Values that are known before a run, but may depend on the size of the batch.
    case known
  }

  /// A fact that the bytes of a row depend on besides the inputs' row, at an operator. Runs with equal facts
  /// give equal bytes.
  struct Fact: Hashable {
    enum Subject: Hashable {
      /// The shape of a row.
      case shape(tensor: Int, [Int])
      /// Values that the plan knows.
      case values(tensor: Int, shape: [Int], [UInt8])
      /// In which order floats are added.
      case order(String)
    }

    /// The operator's position; −1 for what the caller gives.
    let node: Int
    let subject: Subject
  }

  /// Why a row may depend on others.
  struct Objection: Error {
    let reason: String
  }

  private let graph: Graph
  let wiring: Wiring
  /// The facts about each tensor at the end of planning.
  let tensors: [TensorFacts]
  /// The rows of the batch.
  let count: Int
  private var kinds: [Kind?]
  private(set) var facts: [Fact] = []
  private var comparedByteCount = 0
  /// The step that covers each operator.
  private var steps: [Int: Step] = [:]

  /// Proves it for the batch that a graph is planned for.
  ///
  /// - Throws: Why there is no proof.
  init(of graph: Graph) throws(Objection) {
    self.graph = graph
    wiring = graph.wiring
    tensors = graph.facts
    kinds = Array(repeating: nil, count: wiring.tensorCount)
    let inputs = wiring.subgraph.inputs
    guard let first = inputs.first, !tensors.isEmpty else { throw Objection(reason: "there are no inputs") }
    count = tensors[first].shape?.dimensions.first ?? 0
    guard graph.isPlanned, graph.segments.count == 1 else {
      let next = graph.segments.first?.plan.nodes.upperBound ?? 0
      let node = graph.segments.first?.plan.deferred == nil ? next : next - 1
      throw Objection(reason: "\(place(node)), has shapes that depend on data")
    }
    for step in graph.segments[0].plan.steps { for node in step.nodes { steps[node] = step } }
    for tensor in wiring.subgraph.tensors.indices where wiring.sources[tensor] == .constant {
      kinds[tensor] = .fixed
    }
    for input in inputs {
      guard wiring.sources[input] == .input else {
        throw Objection(reason: "the input \(name(input)) keeps its values between runs")
      }
      try becomeRows(input, at: -1)
    }
    for node in 0..<wiring.nodeCount { try visit(node) }
    for output in wiring.subgraph.outputs where kinds[output] != .rows {
      throw Objection(reason: "the output \(name(output)) has no row for each row of the inputs")
    }
  }

  // MARK: Operators

  private mutating func visit(_ node: Int) throws(Objection) {
    let entry = wiring.subgraph.operators[node]
    for input in entry.inputs where input >= 0 && kinds[input] == nil {
      let what = wiring.isVariable(input) ? "which keeps its values between runs" : "which nothing writes"
      throw Objection(reason: "\(place(node)), reads \(name(input)), \(what)")
    }
    let read = entry.inputs.filter { $0 >= 0 }.compactMap { kinds[$0] }
    let registration = try? graph.context.registration(of: entry, at: node)
    let isPure = registration?.isPure ?? false
    if isPure, !read.isEmpty, read.allSatisfy({ $0 == .fixed }) { return set(entry.outputs, .fixed) }
    let areKnown = isPure && entry.outputs.allSatisfy { tensors[$0].constant != nil }
    let rule = isPure ? registration?.rows ?? .mixed : .mixed
    guard read.contains(.rows) || rule.makesRows else {
      // Such as a shape, which is known before any run.
      if areKnown { return set(entry.outputs, .known) }
      throw Objection(reason: "\(place(node)), may move values from one row of a batch to another")
    }
    let kept = facts.count
    do throws(Objection) { try apply(rule, to: RowNode(index: node, entry: entry)) } catch {
      guard areKnown else { throw error }
      facts.removeSubrange(kept...)
      set(entry.outputs, .known)
    }
  }

  private mutating func set(_ outputs: [Int], _ kind: Kind) {
    for output in outputs { kinds[output] = kind }
  }

  /// How a tensor depends on the batch; nil before the proof has reached it.
  func kind(_ tensor: Int) -> Kind? { kinds[tensor] }

  // MARK: Tensors

  /// The sizes of a tensor's axes.
  func shape(_ tensor: Int) -> [Int] { tensors[tensor].shape?.dimensions ?? [] }

  func rank(_ tensor: Int) -> Int { shape(tensor).count }

  /// A tensor's name and shape, for messages.
  func text(_ tensor: Int) -> String { "\(name(tensor)), \(TensorShape(shape(tensor)))" }

  /// A tensor's name, for messages.
  func name(_ tensor: Int) -> String { wiring.name(of: tensor) }

  /// An operator, for messages.
  func place(_ node: Int) -> String {
    guard wiring.subgraph.operators.indices.contains(node) else { return "the caller" }
    let code = wiring.subgraph.operators[node].operatorCode
    return "operator #\(node), \(graph.model.file.operatorCodes[code].name.brief)"
  }

  /// Records that a tensor has rows of its own: it must have one for each of the batch.
  mutating func becomeRows(_ tensor: Int, at node: Int) throws(Objection) {
    let shape = shape(tensor)
    guard shape.first == count, count > 0 else {
      throw Objection(
        reason: node < 0
          ? "the input \(text(tensor)), has no row for each of the \(count) of the batch"
          : "\(place(node)), makes \(text(tensor)), which has no row for each of the \(count) of the batch")
    }
    guard wiring.types[tensor].byteCount != nil, !wiring.isVariable(tensor) else {
      throw Objection(reason: "\(place(node)): \(text(tensor)), is no plain tensor of whole bytes")
    }
    if let quantization = wiring.subgraph.tensors[tensor].quantization, quantization.scaleCount > 1,
      quantization.quantizedDimension == 0 || quantization.detailsType > 1
    {
      throw Objection(reason: "\(place(node)): \(text(tensor)), has a scale for each row")
    }
    facts.append(Fact(node: node, subject: .shape(tensor: tensor, Array(shape.dropFirst()))))
    kinds[tensor] = .rows
  }

  /// The largest constant that may depend on the batch and is compared byte by byte, and the bytes of all of them.
  private static let maximumBytes = 1 << 12
  private static let maximumBytesInAll = 1 << 20

  /// Requires that a tensor has the same values whatever the batch, or keeps them to be compared.
  mutating func requireFixed(_ tensor: Int, at node: Int) throws(Objection) {
    switch kinds[tensor] {
    case .fixed: return
    case .known:
      if let constant = tensors[tensor].constant, constant.byteCount <= Self.maximumBytes,
        comparedByteCount <= Self.maximumBytesInAll, let bytes = try? constant.values(as: UInt8.self)
      {
        comparedByteCount += bytes.count
        facts.append(Fact(node: node, subject: .values(tensor: tensor, shape: shape(tensor), bytes)))
        return
      }
      fallthrough
    default:
      throw Objection(reason: "\(place(node)), reads \(name(tensor)), which depends on the batch")
    }
  }

  /// The integers of a constant, which must be the same whatever the batch.
  mutating func values(_ tensor: Int, at node: Int) throws(Objection) -> [Int] {
    try requireFixed(tensor, at: node)
    if let constant = tensors[tensor].constant, constant.byteCount <= Self.maximumBytes {
      switch wiring.types[tensor] {
      case .int32: if let values = try? constant.values(as: Int32.self) { return values.map(Int.init) }
      case .int64: if let values = try? constant.values(as: Int64.self) { return values.map(Int.init(_:)) }
      default: break
      }
    }
    throw Objection(reason: "\(place(node)): the values of \(name(tensor)) are not known before a run")
  }

  /// Requires a known order of additions where an operator adds floats, and keeps it.
  mutating func requireOrder(of type: ElementType, at node: Int) throws(Objection) {
    guard [.float32, .float64, .float16, .bfloat16].contains(type) else { return }
    guard let order = steps[node]?.operation.summation else {
      throw Objection(
        reason: "\(place(node)), adds floats by a kernel whose order of additions may depend on the batch")
    }
    keep(order: order, at: node)
  }

  /// Keeps in which order an operator adds floats.
  mutating func keep(order: String, at node: Int) {
    facts.append(Fact(node: node, subject: .order(order)))
  }
}

/// An operator whose rows are looked at.
struct RowNode {
  /// Its position.
  let index: Int
  let entry: OperatorEntry

  /// An input, if it is there.
  func input(_ position: Int) -> Int? {
    guard entry.inputs.indices.contains(position), entry.inputs[position] >= 0 else { return nil }
    return entry.inputs[position]
  }

  /// The options; ones that are damaged have errors without a place.
  var options: OperatorOptions {
    OperatorOptions(entry) { ApusError(.malformedModel, "options: \($0.message)") }
  }
}
