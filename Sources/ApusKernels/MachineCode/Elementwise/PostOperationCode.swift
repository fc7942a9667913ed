// SPDX-License-Identifier: Apache-2.0

/// Generated code that changes floats in place right after a convolution computed them.
package struct PostOperationCode: Sendable {
  /// What it does.
  package enum Kind: Hashable, Sendable {
    /// Adds another tensor, and brings the sums between two bounds.
    case sum
    /// Multiplies values below zero with the other tensor, of finite factors.
    case parametricRelu
    /// Adds what is above zero and what is below, this multiplied with the other tensor, and brings the sums between two bounds.
    case rectifiedSum
  }

  struct Arguments: CodeArguments {
    var values: Int
    var other: Int
    /// How many vectors.
    var vectors: Int
    /// What sums are brought between.
    var minimum: Float
    var maximum: Float
  }

  let function: CodeFunction<Arguments>
  /// Floats of a vector, at most 16.
  let lanes: Int

  /// Changes `count` values, each by its other; sums are brought between the bounds.
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
    // What is left over goes by way of a vector.
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
