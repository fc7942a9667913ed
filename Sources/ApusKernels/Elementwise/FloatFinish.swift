// SPDX-License-Identifier: Apache-2.0

/// A function of floats that is done in place, to a stretch at a time, right after they were computed.
package struct FloatTail: Sendable {
  /// The most values of a stretch.
  static let stretch = 2048

  private enum Function: Sendable {
    case map(@Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer) -> Void)
    case parametricRelu(ParametricRelu)
  }

  private let function: Function

  /// Applies one function to each value, by code of a kernel set where that has some.
  package init?(_ function: FloatFunction, using set: KernelSet) {
    guard let map = function.kernel(count: 0, using: set) as? UnaryMap else { return nil }
    self.function = .map(map.fill)
  }

  /// Multiplies values below zero with a factor, those of a row one after the other.
  package init?(parametricRelu factors: [Float], using set: KernelSet) {
    guard let function = ParametricRelu(factors, using: set) else { return nil }
    self.function = .parametricRelu(function)
  }

  /// Changes a stretch of values of which the first is element `position` of its tensor.
  func apply(to values: UnsafeMutablePointer<Float>, position: Int, count: Int) {
    switch function {
    case .map(let body): unsafe body(UnsafeMutableRawPointer(values), count, UnsafeRawPointer(values))
    case .parametricRelu(let function): unsafe function.apply(to: values, position: position, count: count)
    }
  }
}

/// Factors of values below zero, over and over.
private struct ParametricRelu: Sendable {
  /// How many there are before they begin again.
  private let period: Int
  /// As many of them as a stretch reaches from any of the first period on.
  private let factors: [Float]
  private let code: FinishingCode?

  init?(_ factors: [Float], using set: KernelSet) {
    guard (1...1 << 16).contains(factors.count) else { return nil }
    period = factors.count
    let rows = (FloatTail.stretch + factors.count - 1) / factors.count + 1
    self.factors = Array(Array(repeating: factors, count: rows).joined())
    code = factors.allSatisfy(\.isFinite) ? set.finishing(.parametricRelu) : nil
  }

  func apply(to values: UnsafeMutablePointer<Float>, position: Int, count: Int) {
    unsafe factors.withUnsafeBufferPointer { factors in
      guard let factors = factors.baseAddress.map({ $0 + position % period }) else { return }
      if let code { return unsafe code.apply(to: values, factors, count: count) }
      unsafe Self.multiply(values, factors, count: count)
    }
  }

  private static func multiply(
    _ values: UnsafeMutablePointer<Float>, _ factors: UnsafePointer<Float>, count: Int
  ) {
    var index = 0
    while index &+ 8 <= count {
      let eight = unsafe UnsafeRawPointer(values + index).loadUnaligned(as: SIMD8<Float>.self)
      let products = unsafe eight * UnsafeRawPointer(factors + index).loadUnaligned(as: SIMD8<Float>.self)
      let results = eight.replacing(with: products, where: .!(eight .>= SIMD8<Float>(repeating: 0)))
      unsafe UnsafeMutableRawPointer(values + index).storeBytes(of: results, as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      let value = unsafe values[index]
      unsafe values[index] = value >= 0 ? value : value * factors[index]
      index &+= 1
    }
  }
}

/// What becomes of the floats that a convolution computed, while they are still in the cache.
package final class FloatFinish: Sendable {
  /// Whether another tensor is added.
  package let addsOther: Bool
  private let bounds: ScalarBounds<Float>
  private let sum: FinishingCode?
  /// What is done in the end.
  package let tail: FloatTail?

  /// Does `tail` alone.
  package init(tail: FloatTail) {
    addsOther = false
    bounds = ScalarBounds(minimum: 0, maximum: 0)
    sum = nil
    self.tail = tail
  }

  /// Adds another tensor, the sums brought between two bounds.
  package init(addingWithin minimum: Float, _ maximum: Float, using set: KernelSet) {
    addsOther = true
    bounds = ScalarBounds(minimum: minimum, maximum: maximum)
    sum = set.finishing(.sum)
    tail = nil
  }

  private init(_ finish: FloatFinish, tail: FloatTail) {
    (addsOther, bounds, sum) = (finish.addsOther, finish.bounds, finish.sum)
    self.tail = tail
  }

  /// The same with a function after it; nil where there is one already.
  package func followed(by tail: FloatTail) -> FloatFinish? {
    self.tail == nil ? FloatFinish(self, tail: tail) : nil
  }

  /// Changes `count` values from `first` on.
  func apply(
    to output: UnsafeMutablePointer<Float>, other: UnsafePointer<Float>?, first: Int, count: Int
  ) {
    var first = first
    let end = first &+ count
    while first < end {
      let part = min(end &- first, FloatTail.stretch)
      if addsOther, let other = unsafe other {
        if let sum {
          unsafe sum.apply(to: output + first, other + first, count: part, within: bounds)
        } else {
          unsafe add(output + first, other + first, count: part)
        }
      }
      if let tail { unsafe tail.apply(to: output + first, position: first, count: part) }
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

/// A convolution that can do something to its floats before they leave the cache.
package protocol FinishingConvolution: PreparedConvolution {
  /// As ``PreparedConvolution/run(_:input:output:scratch:threads:)``, with something done to the outputs; `other` is as large
  /// as they are.
  func run(
    _ packed: PackedWeights, input: RawSpan, other: RawSpan?, finish: FloatFinish,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam)
}
