// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// How vectors of coordinates lie in a tensor: along one of its axes, or of one element each.
struct IndexVectors {
  /// The axes of another tensor that coordinates are for.
  let axes: [Int]
  /// The sizes of the axes along which vectors follow each other.
  let sizes: [Int]
  /// Elements from one vector to the next along each of them.
  let strides: [Int]
  /// Elements from one coordinate to the next.
  let coordinateStride: Int

  /// Checks that vectors along `dimension` have a coordinate for each of `axes`.
  init(_ tensor: TensorSlot, dimension: Int64, axes: [Int], rank: Int, _ node: Node) throws(ApusError) {
    guard let dimension = Int(exactly: dimension), (0...tensor.shape.rank).contains(dimension) else {
      throw node.malformed("\(tensor.name), \(tensor.shape), has no axis \(dimension)")
    }
    let isWhole = dimension == tensor.shape.rank
    let others = (0..<tensor.shape.rank).filter { $0 != dimension }
    _ = try node.axisSet(axes, rank: rank)
    guard axes.count == (isWhole ? 1 : tensor.shape[dimension]) else {
      throw node.malformed("vectors in \(tensor.name), \(tensor.shape), are for \(axes.count) axes")
    }
    let all = tensor.shape.strides
    self.axes = axes
    sizes = others.map { tensor.shape[$0] }
    strides = others.map { all[$0] }
    coordinateStride = isWhole ? 1 : all[dimension]
  }
}

extension Node {
  /// Axes that the options list, each once.
  func axisSet(_ axes: [Int], rank: Int) throws(ApusError) -> Set<Int> {
    let set = Set(axes)
    guard set.count == axes.count, axes.allSatisfy({ (0..<rank).contains($0) }) else {
      throw malformed("\(axes.brief) are not different axes of \(rank)")
    }
    return set
  }
}
