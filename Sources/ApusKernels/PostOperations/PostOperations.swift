// SPDX-License-Identifier: Apache-2.0

/// What becomes of the floats that a convolution computed, while they are still in the cache.
package final class PostOperations: Sendable {
  /// Whether another tensor is added.
  package let addsOther: Bool
  private let bounds: ScalarBounds<Float>
  private let sum: PostOperationCode?
  /// What is done in the end.
  package let last: PostOperation?

  /// Does `last` alone.
  package init(last: PostOperation) {
    addsOther = false
    bounds = ScalarBounds(minimum: 0, maximum: 0)
    sum = nil
    self.last = last
  }

  /// Adds another tensor, the sums brought between two bounds.
  package init(addingWithin minimum: Float, _ maximum: Float, using set: KernelSet) {
    addsOther = true
    bounds = ScalarBounds(minimum: minimum, maximum: maximum)
    sum = set.elementwise?.postOperation(.sum)
    last = nil
  }

  private init(_ operations: PostOperations, last: PostOperation) {
    (addsOther, bounds, sum) = (operations.addsOther, operations.bounds, operations.sum)
    self.last = last
  }

  /// The same with a function after it; nil where there is one already.
  package func followed(by last: PostOperation) -> PostOperations? {
    self.last == nil ? PostOperations(self, last: last) : nil
  }

  /// Changes `count` values from `first` on.
  func apply(
    to output: UnsafeMutablePointer<Float>, other: UnsafePointer<Float>?, first: Int, count: Int
  ) {
    var first = first
    let end = first &+ count
    while first < end {
      let part = min(end &- first, PostOperation.stretch)
      if addsOther, let other = unsafe other {
        if let sum {
          unsafe sum.apply(to: output + first, other + first, count: part, within: bounds)
        } else {
          unsafe add(output + first, other + first, count: part)
        }
      }
      if let last { unsafe last.apply(to: output + first, position: first, count: part) }
      first &+= part
    }
  }

  private func add(_ values: UnsafeMutablePointer<Float>, _ other: UnsafePointer<Float>, count: Int) {
    var index = 0
    while index &+ 8 <= count {
      let eight = unsafe UnsafeRawPointer(values + index).loadUnaligned(as: SIMD8<Float>.self)
      let sums = unsafe eight + UnsafeRawPointer(other + index).loadUnaligned(as: SIMD8<Float>.self)
      unsafe UnsafeMutableRawPointer(values + index).storeBytes(
        of: sums.bounded(bounds.minimum, bounds.maximum), as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      unsafe values[index] = bounds.clamp(values[index] + other[index])
      index &+= 1
    }
  }
}
