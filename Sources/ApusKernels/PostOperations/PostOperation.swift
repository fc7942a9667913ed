// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A function of floats, applied in place to a part of a tensor right after it was computed.
///
/// It is a class, and so are its parts: tiles of several threads use it, and would wait for each other to count references to parts that
/// are copied.
package final class PostOperation: Sendable {
  /// The maximum number of values per call.
  static let stretch = 2048

  private let function: any FunctionInPlace
  /// Whose code computes it, and why.
  package let choice: KernelChoice
  /// The function that is applied to each value, if there is only one.
  let floatFunction: FloatFunction?

  /// Applies one function to each value, by code of the kernel set if it has any.
  package init?(_ function: FloatFunction, using set: KernelSet) {
    let (kernel, choice) = function.choose(count: 0, using: set)
    guard let map = kernel as? UnaryMap else { return nil }
    self.function = unsafe MapInPlace(map.fill)
    self.choice = choice
    floatFunction = function
  }

  /// PRELU: multiplies negative values by a factor; the factors of a row repeat.
  package init?(parametricRelu factors: [Float], using set: KernelSet) {
    guard let function = Rectifier(factors, sumBounds: nil, using: set) else { return nil }
    self.function = function
    choice = function.choice
    floatFunction = nil
  }

  /// Adds `max(x, 0)` and a factor times `min(x, 0)`, and clamps the sum; the factors of a row repeat.
  package init?(
    rectifiedSum factors: [Float], within minimum: Float, _ maximum: Float, using set: KernelSet
  ) {
    let bounds = ScalarBounds(minimum: minimum, maximum: maximum)
    guard let function = Rectifier(factors, sumBounds: bounds, using: set) else { return nil }
    self.function = function
    choice = function.choice
    floatFunction = nil
  }

  /// One value of ``init(rectifiedSum:within:_:using:)``.
  package static func rectifiedSum(
    _ value: Float, factor: Float, within minimum: Float, _ maximum: Float
  ) -> Float {
    let (above, below) = (value < 0 ? 0 : value, value > 0 ? 0 : value)
    return ScalarBounds(minimum: minimum, maximum: maximum).clamp(above + below * factor)
  }

  /// Applies the operation to `count` values of a tensor, from element `position` on.
  func apply(to values: UnsafeMutablePointer<Float>, position: Int, count: Int) {
    unsafe function.apply(to: values, position: position, count: count)
  }
}

/// A change of a tensor's floats in place.
private protocol FunctionInPlace: AnyObject, Sendable {
  /// Changes `count` values, which are those of the tensor from element `position` on.
  func apply(to values: UnsafeMutablePointer<Float>, position: Int, count: Int)
}

/// One function of each value.
@safe private final class MapInPlace: FunctionInPlace {
  private let body: @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer) -> Void

  init(_ body: @escaping @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer) -> Void) {
    unsafe self.body = body
  }

  func apply(to values: UnsafeMutablePointer<Float>, position: Int, count: Int) {
    unsafe body(UnsafeMutableRawPointer(values), count, UnsafeRawPointer(values))
  }
}

/// PRELU with periodic factors, or the sum of both of its parts.
private final class Rectifier: FunctionInPlace {
  /// The number of factors before they repeat.
  private let period: Int
  /// The factors, repeated far enough for a call that begins anywhere in the first period.
  private let factors: [Float]
  /// The bounds of the sum of both parts; nil for PRELU, which takes one part or the other.
  private let sumBounds: ScalarBounds<Float>?
  private let code: PostOperationCode?
  let choice: KernelChoice

  init?(_ factors: [Float], sumBounds: ScalarBounds<Float>?, using set: KernelSet) {
    guard (1...1 << 16).contains(factors.count) else { return nil }
    period = factors.count
    let rows = (PostOperation.stretch + factors.count - 1) / factors.count + 1
    self.factors = Array(Array(repeating: factors, count: rows).joined())
    self.sumBounds = sumBounds
    (code, choice) = set.choose(otherwise: nil) { set throws(Decline) in
      guard factors.allSatisfy(\.isFinite) else { throw Decline("a factor is not finite") }
      return try set.generatedKernels().postOperation(sumBounds == nil ? .parametricRelu : .rectifiedSum)
    }
  }

  func apply(to values: UnsafeMutablePointer<Float>, position: Int, count: Int) {
    unsafe factors.withUnsafeBufferPointer { factors in
      guard let factors = unsafe factors.baseAddress.map({ unsafe $0 + position % period }) else { return }
      if let code {
        let bounds = sumBounds ?? ScalarBounds(minimum: 0, maximum: 0)
        return unsafe code.apply(to: values, factors, count: count, within: bounds)
      }
      if let bounds = sumBounds {
        unsafe Self.add(values, factors, count: count, within: bounds)
      } else {
        unsafe Self.multiply(values, factors, count: count)
      }
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

  private static func add(
    _ values: UnsafeMutablePointer<Float>, _ factors: UnsafePointer<Float>, count: Int,
    within bounds: ScalarBounds<Float>
  ) {
    var index = 0
    while index &+ 8 <= count {
      let eight = unsafe UnsafeRawPointer(values + index).loadUnaligned(as: SIMD8<Float>.self)
      let below =
        unsafe eight.bounded(-.infinity, 0)
        * UnsafeRawPointer(factors + index).loadUnaligned(as: SIMD8<Float>.self)
      let results = (eight.bounded(0, .infinity) + below).bounded(bounds.minimum, bounds.maximum)
      unsafe UnsafeMutableRawPointer(values + index).storeBytes(of: results, as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      unsafe values[index] = PostOperation.rectifiedSum(
        values[index], factor: factors[index], within: bounds.minimum, bounds.maximum)
      index &+= 1
    }
  }
}
