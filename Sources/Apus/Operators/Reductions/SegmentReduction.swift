// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `UNSORTED_SEGMENT_SUM`, `_PROD`, `_MAX`, `_MIN` and `SEGMENT_SUM`: rows folded by the segment that each one
/// names.
struct SegmentReduction: Operator {
  private let input: TensorSlot
  private let segments: TensorSlot
  private let output: TensorSlot
  private let fold: SegmentFold
  private let place: String

  static func sum(_ node: Node) throws(ApusError) -> any Operator { try unsorted(.sum, node) }
  static func product(_ node: Node) throws(ApusError) -> any Operator { try unsorted(.product, node) }
  static func maximum(_ node: Node) throws(ApusError) -> any Operator { try unsorted(.maximum, node) }
  static func minimum(_ node: Node) throws(ApusError) -> any Operator { try unsorted(.minimum, node) }

  private static func unsorted(_ kind: Reduction.Kind, _ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let number = try node.input(2, types: [.int32], ranks: 0...1)
    let count = try node.integer(of: number)
    let input = try node.input(0, types: [.float32, .int32])
    let segments = try node.input(1, types: [.int32], ranks: 0...input.shape.rank)
    return try make(kind, input, segments, count: count, node)
  }

  static func sorted(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, types: [.float32, .int32], ranks: 1...8)
    let segments = try node.input(1, types: [.int32], rank: 1)
    var last = -1
    for (row, value) in try node.values(of: segments, as: Int32.self).enumerated() {
      try node.context.limits.checkTime(at: row)
      let segment = Int(value)
      guard segment == last || segment == last + 1, segment >= 0 else {
        throw node.malformed("segment \(segment) follows \(last) in \(segments.name)")
      }
      last = segment
    }
    return try make(.sum, input, segments, count: last + 1, node)
  }

  private static func make(
    _ kind: Reduction.Kind, _ input: TensorSlot, _ segments: TensorSlot, count: Int, _ node: Node
  ) throws(ApusError) -> any Operator {
    let rank = segments.shape.rank
    guard segments.shape.dimensions == Array(input.shape.dimensions.prefix(rank)), count >= 0 else {
      throw node.malformed("\(count) segments of \(segments.shape) do not fit \(input.name), \(input.shape)")
    }
    let output = try node.output(
      0, shape: TensorShape([count] + input.shape.dimensions.dropFirst(rank)), like: input)
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    return SegmentReduction(
      input: input, segments: segments, output: output,
      fold: SegmentFold(
        kind, input.type.scalarType(in: .reducible) ?? .float32, rows: segments.shape.elementCount,
        segments: count,
        length: output.shape.elementCount / count), place: node.place)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    var result = tensors.writeBytes(output)
    if let segment = fold.run(
      tensors.readBytes(input), by: tensors.read(segments, as: Int32.self), to: &result,
      threads: tensors.threads)
    {
      throw ApusError(
        .invalidData, "\(place): segment \(segment) in \(segments.name) is not below \(output.shape[0])")
    }
  }
}
