// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code that changes floats in place right after a convolution has computed them.
package struct PostOperationCode: Sendable {
  /// The operation.
  package enum Kind: Hashable, Sendable {
    /// Adds another tensor, and clamps the sums.
    case sum
    /// Multiplies values below zero by the other tensor, which contains finite factors.
    case parametricRelu
    /// `max(x, 0) + factor · min(x, 0)` with factors of the other tensor, clamped.
    case rectifiedSum
  }

  /// The arguments of the function.
  package struct Arguments: CodeArguments {
    /// The address of the floats that are changed.
    package var values: Int
    /// The address of the other tensor's floats.
    package var other: Int
    /// The number of vectors.
    package var vectors: Int
    /// The minimum of the sums.
    package var minimum: Float
    /// The maximum of the sums.
    package var maximum: Float
  }

  /// Changes whole vectors.
  package let function: CodeFunction<Arguments>
  /// The number of floats in a vector, at most 16.
  package let lanes: Int

  /// A function for vectors of `lanes` floats.
  package init(function: CodeFunction<Arguments>, lanes: Int) {
    self.function = function
    self.lanes = lanes
  }

  /// Changes `count` values, each with the element of `other` at its index; `bounds` clamp sums.
  func apply(
    to values: UnsafeMutablePointer<Float>, _ other: UnsafePointer<Float>, count: Int,
    within bounds: ScalarBounds<Float> = ScalarBounds(minimum: 0, maximum: 0)
  ) {
    ExecutableMemory.seal()
    var arguments = Arguments(
      values: Int(bitPattern: values), other: Int(bitPattern: other), vectors: count / lanes,
      minimum: bounds.minimum, maximum: bounds.maximum)
    if arguments.vectors > 0 { function.call(arguments) }
    let done = arguments.vectors &* lanes
    guard done < count else { return }
    // The tail is copied to a vector and back.
    var rest = (SIMD16<Float>(), SIMD16<Float>())
    for lane in 0..<count &- done {
      rest.0[lane] = unsafe values[done &+ lane]
      rest.1[lane] = unsafe other[done &+ lane]
    }
    unsafe withUnsafeMutablePointer(to: &rest) { rest in
      arguments.values = Int(bitPattern: rest)
      arguments.other = arguments.values &+ MemoryLayout<SIMD16<Float>>.stride
      arguments.vectors = 1
      function.call(arguments)
    }
    for lane in 0..<count &- done { unsafe values[done &+ lane] = rest.0[lane] }
  }
}
