// SPDX-License-Identifier: Apache-2.0

extension PlanDraft {
  /// **Rule:** a tensor's live range goes from the step that writes it to the last that reads it or a view of
  /// it, or to the segment's end if a later segment or the caller does. Tensors share bytes only if their
  /// live ranges do not overlap.
  ///
  /// **Reason:** less memory fits better into caches, and into the machine.
  ///
  /// - Parameters:
  ///   - nodes: the operators of the segment.
  ///   - reuses: whether memory is reused at all.
  ///   - overwrites: whether results may overwrite operands.
  func placingTensors(
    of nodes: Range<Int>, reuses: Bool, overwrites: Bool
  ) throws(ApusError) -> Layout {
    let count = wiring.tensorCount
    let end = nodes.upperBound
    var first = Array(repeating: -1, count: count)
    var last = Array(repeating: -1, count: count)
    var written: [Int] = []
    for step in steps {
      for tensor in step.writes where !wiring.isVariable(tensor) {
        if first[tensor] < 0 { written.append(tensor) }
        first[tensor] = step.position
        last[tensor] = max(last[tensor], step.position)
      }
      for tensor in step.reads where tensor < count {
        let root = facts[tensor].root
        last[root] = max(last[root], step.position)
      }
    }
    var layout = Layout()
    for node in nodes {
      for tensor in wiring.subgraph.operators[node].outputs where facts[tensor].constant == nil {
        let root = facts[tensor].root
        let isReadLater = wiring.isOutput[tensor] || (wiring.readers(of: tensor).last ?? -1) >= end
        if isReadLater { last[root] = end }
        if root != tensor, facts[tensor].shape != nil {
          layout.views.append(.init(tensor: tensor, root: root))
        }
      }
    }
    var requests: [OffsetAssignment.Request] = []
    var tensors: [Int] = []
    let overwritten =
      reuses && overwrites
      ? try overwrittenOperands(first: first, last: last) : Array(repeating: -1, count: count)
    // Steps are in order, so a tensor comes after the one that it overwrites.
    var requestOf = Array(repeating: -1, count: count)
    for tensor in written {
      let lifetime = reuses ? first[tensor]...max(first[tensor], last[tensor]) : nodes.lowerBound...end
      if overwritten[tensor] >= 0 {
        let home = requestOf[overwritten[tensor]]
        requestOf[tensor] = home
        requests[home].lifetime = requests[home].lifetime.lowerBound...lifetime.upperBound
        continue
      }
      requestOf[tensor] = requests.count
      requests.append(.init(byteCount: try byteCount(of: tensor), lifetime: lifetime))
      tensors.append(tensor)
    }
    for step in steps {
      for scratch in step.scratch {
        requests.append(
          .init(byteCount: try byteCount(of: scratch), lifetime: step.position...step.position))
        tensors.append(scratch)
      }
    }
    try layout.assign(requests, to: tensors, subgraph: wiring.index)
    layout.add(written.filter { overwritten[$0] >= 0 }, at: requestOf, first: first)
    return layout
  }
}

extension Layout {
  /// Adds tensors that overwrite others. The overwritten tensor's live range ends there.
  fileprivate mutating func add(_ tensors: [Int], at requests: [Int], first: [Int]) {
    // The place that holds each request's bytes so far.
    var holders = Array(places.indices)
    for tensor in tensors {
      let holder = holders[requests[tensor]]
      let place = places[holder]
      let (begin, end) = (place.lifetime.lowerBound, place.lifetime.upperBound)
      places[holder] = Place(
        tensor: place.tensor, offset: place.offset, byteCount: place.byteCount,
        lifetime: begin...max(begin, first[tensor] - 1))
      holders[requests[tensor]] = places.count
      places.append(
        Place(
          tensor: tensor, offset: place.offset, byteCount: place.byteCount,
          lifetime: first[tensor]...max(first[tensor], end)))
    }
  }

  /// Assigns each tensor an offset in the block.
  mutating func assign(
    _ requests: [OffsetAssignment.Request], to tensors: [Int], subgraph: Int
  ) throws(ApusError) {
    let assignment = OffsetAssignment(requests)
    guard let total = assignment.byteCount else {
      throw ApusError(
        .resourceLimit, "the tensors of subgraph \(subgraph) take more bytes than can be counted")
    }
    byteCount = total
    places = tensors.indices.map {
      Place(
        tensor: tensors[$0], offset: assignment.offsets[$0], byteCount: requests[$0].byteCount,
        lifetime: requests[$0].lifetime)
    }
  }
}
