// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension Node {
  /// The layout of a tensor with a scale for each slice: the number of runs of slices, and a slice's length.
  func slices(
    of shape: TensorShape, by parameters: QuantizationParameters, of slot: TensorSlot
  ) throws(ApusError) -> (outer: Int, inner: Int) {
    let axis = parameters.quantizedDimension
    guard axis >= 0, axis < shape.rank, shape[axis] == parameters.scales.count else {
      throw malformed("\(slot.name), \(shape), has \(parameters.scales.count) scales along axis \(axis)")
    }
    let inner = shape.elementCount(in: axis + 1..<shape.rank)
    return (shape.elementCount == 0 ? 0 : shape.elementCount(in: 0..<axis), inner)
  }
}
