// SPDX-License-Identifier: Apache-2.0

extension Pass {
  /// **Rule:** each tensor that the segment writes, and each piece of its scratch memory, gets a place in one block. A place
  /// is in use for the whole segment unless live ranges are known.
  ///
  /// **Reason:** one block is requested once, and nothing is requested while the model runs.
  static let places = Pass(
    "places", isOptional: false,
    .segment { (plan, _) throws(ApusError) in plan.layout = try plan.placedTensors() })
}

extension PlanDraft {
  fileprivate func placedTensors() throws(ApusError) -> Layout {
    var layout = Layout()
    for node in nodes {
      for tensor in wiring.subgraph.operators[node].outputs where facts[tensor].constant == nil {
        let root = facts[tensor].root
        if root != tensor, facts[tensor].shape != nil {
          layout.views.append(.init(tensor: tensor, root: root))
        }
      }
    }
    var requests: [OffsetAssignment.Request] = []
    var tensors: [Int] = []
    var written: [Int] = []
    // Steps are in order, so a tensor comes after the one that it overwrites.
    var requestOf = Array(repeating: -1, count: wiring.tensorCount)
    var firsts = requestOf
    for step in steps {
      for tensor in step.writes where !wiring.isVariable(tensor) {
        if firsts[tensor] < 0 { written.append(tensor) }
        firsts[tensor] = step.position
      }
    }
    func overwrites(_ tensor: Int) -> Int { overwritten.isEmpty ? -1 : overwritten[tensor] }
    for tensor in written {
      let lifetime =
        liveRanges.map { $0.first[tensor]...max($0.first[tensor], $0.last[tensor]) }
        ?? nodes.lowerBound...nodes.upperBound
      if overwrites(tensor) >= 0 {
        let home = requestOf[overwrites(tensor)]
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
    layout.add(written.filter { overwrites($0) >= 0 }, at: requestOf, first: firsts)
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
