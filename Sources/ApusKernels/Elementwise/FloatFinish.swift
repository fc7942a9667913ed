/// A function of floats that is done in place, to a stretch at a time, right after they were computed.
package struct FloatTail: Sendable {
  private enum Function: Sendable {
    case map(@Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer) -> Void)
    /// Factors of values below zero, over and over.
    case parametricRelu([Float])
  }

  private let function: Function

  /// Applies one function to each value, by code of a kernel set where that has some.
  package init?(_ function: FloatFunction, using set: KernelSet) {
    guard let map = function.kernel(count: 0, using: set) as? UnaryMap else { return nil }
    self.function = .map(map.fill)
  }

  /// Multiplies values below zero with a factor, those of a row one after the other.
  package init?(parametricRelu factors: [Float]) {
    guard (1...1 << 16).contains(factors.count) else { return nil }
    // Long rows, so that they need not be begun anew every few values.
    let rows = Array(repeating: factors, count: max(1, 512 / factors.count))
    function = .parametricRelu(Array(rows.joined()))
  }

  /// Changes values of which the first is element `position` of its tensor.
  func apply(to values: UnsafeMutablePointer<Float>, position: Int, count: Int) {
    switch function {
    case .map(let body): unsafe body(UnsafeMutableRawPointer(values), count, UnsafeRawPointer(values))
    case .parametricRelu(let factors):
      unsafe factors.withUnsafeBufferPointer { factors in
        var done = 0
        var phase = position % factors.count
        while done < count {
          let part = min(count &- done, factors.count &- phase)
          guard let factors = factors.baseAddress else { return }
          unsafe Self.multiply(values + done, factors + phase, count: part)
          done &+= part
          phase = 0
        }
      }
    }
  }

  @inline(__always)
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
  /// What is done in the end.
  package let tail: FloatTail?

  /// Does `tail` alone.
  package init(tail: FloatTail) {
    addsOther = false
    bounds = ScalarBounds(minimum: 0, maximum: 0)
    self.tail = tail
  }

  /// Adds another tensor, the sums brought between two bounds.
  package init(addingWithin minimum: Float, _ maximum: Float) {
    addsOther = true
    bounds = ScalarBounds(minimum: minimum, maximum: maximum)
    tail = nil
  }

  private init(_ finish: FloatFinish, tail: FloatTail) {
    (addsOther, bounds) = (finish.addsOther, finish.bounds)
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
      let part = min(end &- first, 2048)
      if addsOther, let other = unsafe other {
        unsafe add(output + first, other + first, count: part)
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
