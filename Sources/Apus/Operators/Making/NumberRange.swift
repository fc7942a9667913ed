// SPDX-License-Identifier: Apache-2.0

/// `RANGE`: numbers from a start up to a limit, one step apart; known at preparation.
enum NumberRange {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let start = try node.input(0, types: [.float32, .int32, .int64], rank: 0)
    let limit = try node.input(1, types: [start.type], rank: 0)
    let step = try node.input(2, types: [start.type], rank: 0)
    if start.type == .float32 { return try floats(start, limit, step, node) }
    let (first, end) = (try node.integer(of: start), try node.integer(of: limit))
    let delta = try node.integer(of: step)
    let (distance, overflow) = end.subtractingReportingOverflow(first)
    guard delta != 0, !overflow, distance == 0 || (distance < 0) == (delta < 0) else {
      throw node.malformed("steps of \(delta) do not lead from \(first) to \(end)")
    }
    let steps = distance.magnitude / delta.magnitude + (distance.magnitude % delta.magnitude == 0 ? 0 : 1)
    let count = try count(Double(steps), node)
    let values = (0..<count).map { first &+ $0 &* delta }
    return try node.integerOutput(0, shape: [count], values)
  }

  private static func floats(
    _ start: TensorSlot, _ limit: TensorSlot, _ step: TensorSlot, _ node: Node
  ) throws(ApusError) -> any Operator {
    let first = try node.values(of: start, as: Float.self)[0]
    let end = try node.values(of: limit, as: Float.self)[0]
    let delta = try node.values(of: step, as: Float.self)[0]
    guard delta != 0, first >= end && delta < 0 || first <= end && delta > 0 else {
      throw node.malformed("steps of \(delta) do not lead from \(first) to \(end)")
    }
    let count = try count(Double(((end - first) / delta).magnitude.rounded(.up)), node)
    // Added one by one, as the reference does: the rounding is part of the result.
    var value = first
    let values = (0..<count).map { _ in
      defer { value += delta }
      return value
    }
    return try node.constantOutput(0, shape: [count], values: values)
  }

  /// The number of values, if memory can hold them.
  private static func count(_ steps: Double, _ node: Node) throws(ApusError) -> Int {
    guard steps < 0x1p26 else { throw node.unsupported("\(steps) values are too many; 2²⁶ are supported") }
    try node.need(arraysOf: Int(steps), entryByteCount: 3 * MemoryLayout<Int>.stride)
    return Int(steps)
  }
}
