// SPDX-License-Identifier: Apache-2.0

/// Where a FlatBuffers vector's elements are: checked to lie in the bytes.
struct FlatBufferVector: Sendable {
  /// The offset of the first element.
  let start: Int
  /// The number of elements.
  let count: Int

  /// A vector without elements.
  static var empty: Self { FlatBufferVector(start: 0, count: 0) }
}
