// SPDX-License-Identifier: Apache-2.0

/// `UNIQUE`: the distinct values of a vector in order of appearance, and each element's index among them.
///
/// NaN has the index of the minimum before it, and if it comes first, so do all values: the reference searches a tree that is
/// ordered by `<`, where NaN is neither before nor after any value.
enum Unique {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1, outputs: 2...2)
    let input = try node.input(0, rank: 1)
    switch input.type {
    case .float32: return try find(Float.self, in: input, node)
    case .int8: return try find(Int8.self, in: input, node)
    case .int16: return try find(Int16.self, in: input, node)
    case .uint8: return try find(UInt8.self, in: input, node)
    case .int32: return try find(Int32.self, in: input, node)
    case .int64: return try find(Int64.self, in: input, node)
    default: throw node.unsupported("\(input.name) is \(input.type), which is not supported")
    }
  }

  private static func find<T: TensorElement & Hashable & Comparable>(
    _ type: T.Type, in input: TensorSlot, _ node: Node
  ) throws(ApusError) -> any Operator {
    let count = input.shape.elementCount
    try node.need(arraysOf: count, entryByteCount: 32)
    // A table of places has up to four times as many entries as it needs while it grows.
    let most = MemoryLayout<T>.size < 4 ? min(count, 1 << (8 * MemoryLayout<T>.size)) : count
    try node.need(arraysOf: most, entryByteCount: 64)
    var places: [T: Int] = [:]
    var unique: [T] = []
    var indices: [Int] = []
    var minimum = 0
    for (position, value) in try node.values(of: input, as: T.self).enumerated() {
      try node.context.limits.checkTime(at: position)
      let isUnordered = value != value || !unique.isEmpty && unique[0] != unique[0]
      let known = !isUnordered ? places[value] : unique.isEmpty ? nil : minimum
      let place = known ?? unique.count
      if known == nil {
        if value == value { places[value] = place }
        unique.append(value)
        if value < unique[minimum] { minimum = place }
      }
      indices.append(place)
    }
    _ = try node.integerOutput(1, shape: input.shape, indices)
    return try node.constantOutput(0, shape: [unique.count], values: unique)
  }
}
