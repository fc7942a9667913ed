// SPDX-License-Identifier: Apache-2.0

extension Tensor {
  /// The sizes of a tensor's dimensions, outermost first; none for a scalar.
  public struct Shape: Equatable, Hashable, Sendable {
    /// The number of dimensions.
    public let rank: Int

    /// The size of each dimension.
    public let dimensions: [Int]

    /// Makes a shape from its dimensions.
    public init(_ dimensions: [Int]) {
      rank = dimensions.count
      self.dimensions = dimensions
    }

    /// Makes a shape from its dimensions.
    public init(_ elements: Int...) {
      self.init(elements)
    }
  }
}

extension Tensor.Shape: ExpressibleByArrayLiteral {
  /// Makes a shape from its dimensions.
  public init(arrayLiteral elements: Int...) {
    self.init(elements)
  }
}
