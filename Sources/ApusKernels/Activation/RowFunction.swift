// SPDX-License-Identifier: Apache-2.0

/// A function of rows: the last axis of a tensor.
protocol RowFunction: Sendable {
  associatedtype Argument: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The function's name in reports. Kernels keep it, so it should be a literal.
  var way: String { get }

  /// Computes one row.
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>)

  /// Computes rows of `depth` elements, one after the other.
  func fill(
    _ output: UnsafeMutablePointer<Result>, rows: Int, depth: Int, input: UnsafePointer<Argument>)
}

extension RowFunction {
  var way: String { "portable loop" }

  @inline(__always)
  func fill(
    _ output: UnsafeMutablePointer<Result>, rows: Int, depth: Int, input: UnsafePointer<Argument>
  ) {
    for row in 0..<rows {
      unsafe fill(output + row &* depth, count: depth, input: input + row &* depth)
    }
  }
}
