// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `ONE_HOT`: along a new axis, one value at the index, another elsewhere.
struct OneHot: Operator {
  private let indices: TensorSlot
  private let on: TensorSlot
  private let off: TensorSlot
  private let output: TensorSlot
  private let outer: Int
  private let depth: Int

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 4...4)
    let indices = try node.input(0, types: [.int32, .int64])
    let depth = try node.integer(of: node.input(1, types: [.int32]))
    let on = try node.input(2, types: [.float32, .int32, .int64, .int8, .uint8, .bool])
    let off = try node.input(3, types: [on.type])
    guard on.shape.elementCount == 1, off.shape.elementCount == 1 else {
      throw node.malformed(
        "the values have \(on.shape.elementCount) and \(off.shape.elementCount) elements, not 1")
    }
    let number = try node.options.oneHot.axis
    let axis = number == -1 ? indices.shape.rank : number
    guard (0...indices.shape.rank).contains(axis), depth >= 0 else {
      throw node.malformed("axis \(number) and depth \(depth) are not possible for \(indices.shape)")
    }
    var dimensions = indices.shape.dimensions
    dimensions.insert(depth, at: axis)
    let output = try node.output(0, shape: TensorShape(dimensions), like: on)
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    return OneHot(
      indices: indices, on: on, off: off, output: output, outer: indices.shape.elementCount(in: 0..<axis),
      depth: depth)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    let width = on.type.byteCount ?? 1
    var result = tensors.writeBytes(output)
    fillElements(&result, with: tensors.readBytes(off).extracting(first: width), threads: tensors.threads)
    scatterAtIndices(
      tensors.readBytes(indices), indexByteCount: indices.type.byteCount ?? 4, outer: outer, depth: depth,
      with: tensors.readBytes(on).extracting(first: width), in: &result,
      threads: tensors.threads)
  }
}
