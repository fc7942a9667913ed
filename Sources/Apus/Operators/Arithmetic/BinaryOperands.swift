// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Two inputs of one type and the shape to which they broadcast.
struct BinaryOperands {
  let lhs: TensorSlot
  let rhs: TensorSlot
  let shapes: BroadcastShapes

  /// The type of both.
  var type: ElementType { lhs.type }
  /// The result's shape.
  var resultShape: TensorShape { TensorShape(shapes.result) }

  /// Combines inputs whose types may differ.
  init(lhs: TensorSlot, rhs: TensorSlot, shapes: BroadcastShapes) {
    self.lhs = lhs
    self.rhs = rhs
    self.shapes = shapes
  }

  /// Reads inputs 0 and 1, of one type, and finds the shape of the result. The registry says which types they may have.
  init(_ node: Node) throws(ApusError) {
    try node.expect(inputs: 2...2)
    lhs = try node.input(0)
    rhs = try node.input(1, types: [lhs.type])
    shapes = try node.broadcastShapes(lhs, rhs)
  }
}

extension Node {
  /// The shape to which two inputs broadcast.
  func broadcastShapes(_ lhs: TensorSlot, _ rhs: TensorSlot) throws(ApusError) -> BroadcastShapes {
    guard let shapes = BroadcastShapes(lhs.shape.dimensions, rhs.shape.dimensions) else {
      throw malformed(
        "\(lhs.name), \(lhs.shape), and \(rhs.name), \(rhs.shape), do not broadcast to each other")
    }
    try requireCountable(shapes.result)
    return shapes
  }

  /// Throws if a shape has more elements than memory can hold, before kernels compute with it.
  func requireCountable(_ shape: [Int]) throws(ApusError) {
    guard TensorShape(shape).elementCount < 1 << 48 else {
      throw ApusError(.resourceLimit, "\(place): a result of \(TensorShape(shape)) has too many elements")
    }
  }
}
