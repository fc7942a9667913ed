// SPDX-License-Identifier: Apache-2.0

/// The tensors whose values are in memory.
struct PresentTensors {
  fileprivate var isPresent: [Bool]

  /// Creates a set of `count` tensors that are not in memory.
  init(count: Int) { isPresent = Array(repeating: false, count: count) }

  fileprivate init(isPresent: [Bool]) { self.isPresent = isPresent }

  subscript(tensor: Int) -> Bool {
    get { isPresent[tensor] }
    set { isPresent[tensor] = newValue }
  }
}

/// Proves that each read of a planned run finds the right values; trusts no earlier stage.
///
/// The file says which operators write and read each tensor. The plan says in which order steps run, which
/// tensors each step reads and writes, and at which offsets. The checker walks the steps once and tracks
/// which bytes hold which tensor. For each step it proves that:
///
/// - every tensor it reads was written by its producer and not overwritten since;
/// - its constants are in memory;
/// - its outputs and scratch memory overlap neither its inputs nor each other, except an output that exactly
///   overwrites an operand with the operator's permission.
///
/// At the end every output exists, and every operator ran once. A violation is an `internalError`.
struct PlanChecker {
  /// How the file connects operators.
  let wiring: Wiring
  /// The tensors whose values exist before: inputs, and results of earlier segments.
  let before: PresentTensors
  /// The limits of preparation, if there are any.
  var limits: RunLimits?

  /// The plan as the checker sees it.
  struct Subject {
    var nodes: Range<Int>
    var steps: [Step]
    var facts: [TensorFacts]
    var layout: Layout
    /// The constants that are in place.
    var pinned: [Int]
    var scratchByteCounts: [Int]
    var isDeferred = false
    /// The deferred operator whose outputs are written before the steps.
    var delivered: Int?
  }

  /// Checks a plan.
  ///
  /// - Returns: the tensors whose values exist after the plan has run.
  func check(_ plan: Subject) throws(ApusError) -> PresentTensors {
    var walk = PlanWalk(plan, wiring, before)
    try walk.checkLayout()
    try walk.checkOperators()
    if let node = plan.delivered {
      for output in wiring.subgraph.operators[node].outputs { try walk.deliver(output) }
    }
    for (index, step) in plan.steps.enumerated() {
      try limits?.checkTime(at: index)
      try walk.take(step)
    }
    if plan.nodes.upperBound == wiring.nodeCount, !plan.isDeferred { try walk.checkOutputs() }
    return walk.present(after: before)
  }
}

/// One walk of the checker over a plan.
private struct PlanWalk {
  // For small plans, allocating arrays would take longer than checking: there are few, of types used
  // elsewhere too.

  /// For each tensor, then each piece of scratch memory: whether its bytes hold its values, as those of
  /// pinned constants do. Then for each operator of the segment: whether a step runs it.
  private var isPresent: [Bool]
  /// The index at which the entries of operators begin, if the first operator of the file is number 0.
  private let operators: Int
  private let plan: PlanChecker.Subject
  private let wiring: Wiring
  /// For each tensor and piece of scratch memory: its place in the layout, or −1.
  private var places: [Int]
  /// The tensors that the block currently holds, sorted by offset; they do not overlap.
  private var held: [Int]

  init(_ plan: PlanChecker.Subject, _ wiring: Wiring, _ before: PresentTensors) {
    let count = wiring.tensorCount + plan.scratchByteCounts.count
    operators = count - plan.nodes.lowerBound
    var isPresent = Array(repeating: false, count: operators + plan.nodes.upperBound)
    for tensor in 0..<wiring.tensorCount where before[tensor] { isPresent[tensor] = true }
    for tensor in plan.pinned { isPresent[tensor] = true }
    var held: [Int] = []
    held.reserveCapacity(plan.layout.places.count)
    self.plan = plan
    self.wiring = wiring
    self.isPresent = isPresent
    self.held = held
    places = Array(repeating: -1, count: count)
  }

  /// Checks the places of tensors.
  mutating func checkLayout() throws(ApusError) {
    for index in plan.layout.places.indices {
      try check(plan.layout.places[index])
      places[plan.layout.places[index].tensor] = index
    }
    for view in plan.layout.views { try check(view) }
  }

  /// The tensors whose values exist at the end, or did before.
  mutating func present(after before: PresentTensors) -> PresentTensors {
    for tensor in plan.pinned { isPresent[tensor] = before[tensor] }
    return PresentTensors(isPresent: isPresent)
  }

  /// Checks that a place is aligned, large enough and within the block.
  private func check(_ place: Layout.Place) throws(ApusError) {
    let count = wiring.tensorCount
    let needed =
      place.tensor < count
      ? try wiring.byteCount(of: place.tensor, shape: plan.facts[place.tensor].shape)
      : plan.scratchByteCounts[place.tensor - count]
    guard places[place.tensor] < 0, place.offset >= 0, place.offset.isMultiple(of: TensorMemory.alignment),
      place.byteCount >= needed, place.offset <= plan.layout.byteCount,
      place.byteCount <= plan.layout.byteCount - place.offset
    else {
      throw ApusError(
        .internalError,
        "\(wiring.name(of: place.tensor)) lies at \(place.offset), with \(place.byteCount) bytes for \(needed), "
          + "in a block of \(plan.layout.byteCount)")
    }
  }

  /// Checks that a view is as large as its root.
  private func check(_ view: Layout.View) throws(ApusError) {
    let bytes = try wiring.byteCount(of: view.tensor, shape: plan.facts[view.tensor].shape)
    let rootBytes = try wiring.byteCount(of: view.root, shape: plan.facts[view.root].shape)
    guard plan.facts[view.tensor].root == view.root, bytes == rootBytes else {
      throw ApusError(
        .internalError,
        "\(wiring.name(of: view.tensor)), of \(bytes) bytes, lies where \(wiring.name(of: view.root)) does, of "
          + "\(rootBytes)")
    }
  }

  /// Checks that every operator is run by exactly one step, is constant, or is a view.
  mutating func checkOperators() throws(ApusError) {
    for step in plan.steps {
      for node in step.nodes {
        guard plan.nodes.contains(node), !isPresent[operators + node] else {
          throw failure(step, "does operator #\(node), which another step or segment does")
        }
        isPresent[operators + node] = true
      }
    }
    for node in plan.nodes where !isPresent[operators + node] {
      let entry = wiring.subgraph.operators[node]
      for output in entry.outputs where plan.facts[output].constant == nil {
        let root = plan.facts[output].root
        guard root != output, entry.inputs.contains(where: { $0 >= 0 && plan.facts[$0].root == root }) else {
          throw ApusError(
            .internalError, "operator #\(node): no step computes \(wiring.name(of: output))")
        }
      }
    }
  }

  /// Advances by one step.
  mutating func take(_ step: Step) throws(ApusError) {
    for tensor in step.reads { try checkIsThere(tensor, for: step) }
    for tensor in step.scratch { try write(tensor, by: step) }
    for tensor in step.writes {
      if tensor < wiring.tensorCount, wiring.isVariable(tensor) {
        try checkMoment(ofWriting: tensor, by: step)
      } else {
        try write(tensor, by: step)
      }
    }
    // Outputs must overlap neither inputs nor each other.
    for tensor in step.reads
    where isComputed(tensor) && !isPresent[plan.facts[tensor].root] && !mayOverwrite(tensor, step) {
      throw failure(step, "reads \(wiring.name(of: tensor)) and writes over it")
    }
    try checkIsKept(step.scratch, step)
    try checkIsKept(step.writes, step)
    for node in step.nodes { try checkResults(of: node, step) }
  }

  /// Checks that a step does not overwrite its own results.
  private func checkIsKept(_ tensors: [Int], _ step: Step) throws(ApusError) {
    for tensor in tensors where !isPresent[tensor] && places[tensor] >= 0 {
      throw failure(step, "writes \(wiring.name(of: tensor)) and then over it")
    }
  }

  /// Whether a step's only result exactly overwrites this operand with its operator's permission, and no
  /// other operand or scratch memory of the step is there.
  private func mayOverwrite(_ tensor: Int, _ step: Step) -> Bool {
    let root = plan.facts[tensor].root
    guard step.writes.count == 1, let range = range(of: root), self.range(of: step.writes[0]) == range,
      step.facet.overwritableInputs.contains(where: { $0.index == tensor }),
      step.reads.allSatisfy({ $0 == tensor || plan.facts[$0].root != root }),
      step.scratch.allSatisfy({ self.range(of: $0).map { !$0.overlaps(range) } ?? true })
    else { return false }
    return true
  }

  /// Whether a tensor's values come from steps or from the caller.
  private func isComputed(_ tensor: Int) -> Bool {
    plan.facts[tensor].constant == nil && !wiring.isVariable(plan.facts[tensor].root)
  }

  /// Checks that a step reads only inputs of its operators, and that their bytes are there.
  private func checkIsThere(_ tensor: Int, for step: Step) throws(ApusError) {
    if plan.facts[tensor].constant != nil {
      guard isPresent[tensor] else {
        throw failure(step, "reads the constant \(wiring.name(of: tensor)), which is not in place")
      }
      try checkSize(ofConstant: tensor)
      return
    }
    guard step.nodes.contains(where: { wiring.isRead(tensor, by: $0) }) else {
      throw failure(step, "reads \(wiring.name(of: tensor)), which is no input of its operators")
    }
    guard isComputed(tensor) else {
      // An operator that runs later than its position in the file must not read values that may have changed.
      guard step.nodes.count == 1 || wiring.subgraph.operators[step.position].inputs.contains(tensor) else {
        throw failure(step, "reads the variable \(wiring.name(of: tensor)) late")
      }
      return
    }
    guard isPresent[plan.facts[tensor].root] else {
      throw failure(
        step, "reads \(wiring.name(of: tensor)), which is not written yet or was written over")
    }
  }

  /// Checks that a constant has the size of its shape; strings have other sizes.
  private func checkSize(ofConstant tensor: Int) throws(ApusError) {
    guard let found = plan.facts[tensor].constant?.byteCount, wiring.types[tensor] != .string else { return }
    let expected = try wiring.byteCount(of: tensor, shape: plan.facts[tensor].shape)
    guard found == expected else {
      throw ApusError(
        .internalError, "the constant \(wiring.name(of: tensor)) has \(found) bytes, not \(expected)")
    }
  }

  /// Checks that a step changes a variable at its operator's position in the file, so that no reader sees it
  /// too early or too late.
  private func checkMoment(ofWriting tensor: Int, by step: Step) throws(ApusError) {
    guard step.nodes.count == 1 || wiring.subgraph.operators[step.position].outputs.contains(tensor) else {
      throw failure(step, "writes the variable \(wiring.name(of: tensor)) early or late")
    }
  }

  /// Checks that an operator's results are written, or only read by the same step.
  private func checkResults(of node: Int, _ step: Step) throws(ApusError) {
    for output in wiring.subgraph.operators[node].outputs {
      if plan.facts[output].shape == nil || wiring.isVariable(output) || isPresent[plan.facts[output].root] {
        continue
      }
      let readers = wiring.readers(of: output)
      guard !wiring.isOutput[output], readers.allSatisfy(step.nodes.contains) else {
        throw failure(step, "does not write \(wiring.name(of: output)), which others read")
      }
    }
  }

  /// Marks a tensor as written before all steps.
  mutating func deliver(_ tensor: Int) throws(ApusError) {
    guard let range = range(of: tensor) else {
      throw ApusError(.internalError, "\(wiring.name(of: tensor)) is delivered, but has no memory")
    }
    hold(range, tensor)
  }

  private mutating func write(_ tensor: Int, by step: Step) throws(ApusError) {
    guard let range = range(of: tensor) else {
      throw failure(step, "writes \(wiring.name(of: tensor)), which has no memory")
    }
    hold(range, tensor)
  }

  /// Checks that every output exists.
  func checkOutputs() throws(ApusError) {
    for output in wiring.subgraph.outputs {
      let isThere =
        plan.facts[output].constant == nil
        ? isPresent[plan.facts[output].root] || !isComputed(output) : isPresent[output]
      guard isThere else {
        throw ApusError(.internalError, "the output \(wiring.name(of: output)) is not there at the end")
      }
    }
  }

  private func range(of tensor: Int) -> Range<Int>? {
    places[tensor] < 0 ? nil : place(tensor).offset..<place(tensor).end
  }

  /// Records that bytes now hold a tensor, and no longer what they held before.
  private mutating func hold(_ range: Range<Int>, _ tensor: Int) {
    isPresent[tensor] = true
    guard !range.isEmpty else { return }
    var low = 0
    var high = held.count
    while low < high {
      let middle = (low + high) / 2
      if place(held[middle]).end <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    var end = low
    while end < held.count, place(held[end]).offset < range.upperBound {
      if held[end] != tensor { isPresent[held[end]] = false }
      end += 1
    }
    guard end > low else { return held.insert(tensor, at: low) }
    held[low] = tensor
    if end > low + 1 { held.removeSubrange(low + 1..<end) }
  }

  /// The place of a tensor that has one.
  private func place(_ tensor: Int) -> Layout.Place { plan.layout.places[places[tensor]] }

  private func failure(_ step: Step, _ text: String) -> ApusError {
    ApusError(.internalError, "step of operator #\(step.position): \(text)")
  }
}
