// SPDX-License-Identifier: Apache-2.0

/// The sizes of a tensor's dimensions, in elements, outermost first. Pictures are mostly
/// `[batch, height, width, channels]`. A shape without dimensions is a scalar.
///
/// ```swift
/// let shape: TensorShape = [1, 300, 300, 3]
/// let count = shape.elementCount  // 270,000 elements, whatever their type
/// ```
public struct TensorShape: Hashable, Sendable {
  /// The size of each dimension, in elements. Never negative in a prepared tensor.
  public let dimensions: [Int]

  /// The number of elements (not bytes): the product of the dimensions, 1 for a scalar. It saturates at `Int.max`.
  public let elementCount: Int

  /// Makes a shape from its dimensions. They are checked later, by the call that takes the shape.
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

  /// The product of the dimensions that are not zero, which products of some of them do not exceed. It saturates at `Int.max`.
  var extent: Int { TensorShape(dimensions.filter { $0 != 0 }).elementCount }

  /// The number of dimensions; 0 for a scalar.
  public var rank: Int { dimensions.count }

  /// The size of one dimension. `axis` must be from 0 to ``rank`` − 1.
  public subscript(_ axis: Int) -> Int { dimensions[axis] }

  /// The product of the sizes in a range of axes. The whole product must not overflow.
  func elementCount(in axes: Range<Int>) -> Int {
    dimensions[axes].reduce(1, &*)
  }

  /// The dimensions, extended to `rank` with ones in front.
  func extended(toRank rank: Int) -> [Int] {
    Array(repeating: 1, count: max(0, rank - dimensions.count)) + dimensions
  }
}

extension TensorShape: ExpressibleByArrayLiteral {
  /// Makes a shape from its dimensions.
  public init(arrayLiteral elements: Int...) {
    self.init(elements)
  }
}

extension TensorShape: CustomStringConvertible {
  /// For example `1×300×300×3`, or `scalar`.
  public var description: String {
    if dimensions.isEmpty { return "scalar" }
    // Data may ask for any number of dimensions.
    let text = dimensions.prefix(32).map(String.init).joined(separator: "×")
    return dimensions.count > 32 ? "\(text)×… (\(dimensions.count) dimensions)" : text
  }
}
