// SPDX-License-Identifier: Apache-2.0

/// The sizes of a tensor's dimensions, outermost first; images are NHWC. No dimensions: a scalar.
///
/// ```swift
/// let shape: TensorShape = [1, 300, 300, 3]
/// let count = shape.elementCount  // 270,000
/// ```
public struct TensorShape: Hashable, Sendable {
  /// The size of each dimension. Never negative in a tensor that is prepared.
  public let dimensions: [Int]

  /// The number of elements; saturates at `Int.max` where the product would overflow.
  public let elementCount: Int

  /// Makes a shape of its dimensions.
  public init(_ dimensions: [Int]) {
    self.dimensions = dimensions
    var count = 1
    var saturated = false
    for dimension in dimensions {
      let (product, overflow) = count.multipliedReportingOverflow(by: max(dimension, 0))
      count = product
      saturated = saturated || overflow
    }
    elementCount = saturated && !dimensions.contains(0) ? .max : count
  }

  /// The number of dimensions.
  public var rank: Int { dimensions.count }

  /// The size of one dimension.
  public subscript(_ axis: Int) -> Int { dimensions[axis] }

  /// The product of the sizes in a range of axes; the caller knows that the whole product does not overflow.
  func elementCount(in axes: Range<Int>) -> Int {
    dimensions[axes].reduce(1, &*)
  }

  /// The dimensions with ones put in front, up to `rank` of them.
  func extended(toRank rank: Int) -> [Int] {
    Array(repeating: 1, count: max(0, rank - dimensions.count)) + dimensions
  }
}

extension TensorShape: ExpressibleByArrayLiteral {
  /// Makes a shape of its dimensions.
  public init(arrayLiteral elements: Int...) {
    self.init(elements)
  }
}

extension TensorShape: CustomStringConvertible {
  /// For example `1×300×300×3`, or `scalar`.
  public var description: String {
    dimensions.isEmpty ? "scalar" : dimensions.map(String.init).joined(separator: "×")
  }
}
