// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The operations on the float outputs of a convolution while they are in the cache.
@safe package final class PostOperations: Sendable {
  /// Whether a second tensor is added.
  package let addsOther: Bool
  private let bounds: ScalarBounds<Float>
  private let sum: PostOperationCode?
  /// Why sums, or the last operation, are plain Swift.
  package let notes: [String]
  /// The last operation.
  package let last: PostOperation?
  /// ``last`` without reference counting, for which tiles would contend with those of other threads.
  private let uncountedLast: Unmanaged<PostOperation>?

  /// Applies `last` only.
  package init(last: PostOperation) {
    addsOther = false
    bounds = ScalarBounds(minimum: 0, maximum: 0)
    sum = nil
    notes = last.choice.notes(on: "a function of the results in plain Swift")
    self.last = last
    unsafe uncountedLast = .passUnretained(last)
  }

  /// Adds a second tensor and clamps the sums.
  package init(addingWithin minimum: Float, _ maximum: Float, using set: KernelSet) {
    addsOther = true
    bounds = ScalarBounds(minimum: minimum, maximum: maximum)
    let (sum, choice) = set.choose(otherwise: nil as PostOperationCode?) { set throws(Decline) in
      try set.generatedKernels().postOperation(.sum)
    }
    self.sum = sum
    notes = choice.notes(on: "a sum in plain Swift")
    last = nil
    unsafe uncountedLast = nil
  }

  private init(_ operations: PostOperations, last: PostOperation) {
    (addsOther, bounds, sum) = (operations.addsOther, operations.bounds, operations.sum)
    notes = operations.notes + last.choice.notes(on: "a function of the results in plain Swift")
    self.last = last
    unsafe uncountedLast = .passUnretained(last)
  }

  /// The operations followed by a function; nil if there is a last operation already.
  package func followed(by last: PostOperation) -> PostOperations? {
    self.last == nil ? PostOperations(self, last: last) : nil
  }

  /// Applies the operations to `count` values from `first` on.
  package func apply(
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
      if let last = unsafe uncountedLast {
        unsafe last._withUnsafeGuaranteedRef {
          unsafe $0.apply(to: output + first, position: first, count: part)
        }
      }
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
