// SPDX-License-Identifier: Apache-2.0

/// `WHERE`: the coordinates of all elements that are not zero, row by row.
enum Where {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0)
    let isSet = try flags(of: input, node)
    let shape = input.shape
    let count = isSet.count { $0 }
    // Before memory is taken: each element may have as many coordinates as there are axes.
    _ = try node.output(0, shape: [count, shape.rank], types: [.int64])
    try node.need(arraysOf: count * shape.rank, entryByteCount: 2 * MemoryLayout<Int64>.stride)
    var coordinates: [Int64] = []
    coordinates.reserveCapacity(count * shape.rank)
    let strides = shape.strides
    for index in isSet.indices where isSet[index] {
      for axis in 0..<shape.rank { coordinates.append(Int64(index / strides[axis] % shape[axis])) }
    }
    return try node.constantOutput(0, shape: [count, shape.rank], values: coordinates)
  }

  private static func flags(of input: TensorSlot, _ node: Node) throws(ApusError) -> [Bool] {
    switch input.type {
    case .bool: return try node.values(of: input, as: UInt8.self).map { $0 != 0 }
    case .float32: return try node.values(of: input, as: Float.self).map { $0 != 0 }
    case .int8: return try node.values(of: input, as: Int8.self).map { $0 != 0 }
    case .uint8: return try node.values(of: input, as: UInt8.self).map { $0 != 0 }
    case .uint32: return try node.values(of: input, as: UInt32.self).map { $0 != 0 }
    case .int32, .int64: return try node.integers(of: input).map { $0 != 0 }
    default: throw node.unsupported("\(input.name) is \(input.type), which is not supported")
    }
  }
}
