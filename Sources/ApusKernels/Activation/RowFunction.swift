// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// A function of rows: the last axis of a tensor.
protocol RowFunction: Sendable {
  associatedtype Argument: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The function's name in reports. Kernels keep it, so it should be a literal.
  var loopDescription: String { get }

  /// Computes one row.
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>)

  /// Computes rows of `depth` elements, one after the other.
  func fill(
    _ output: UnsafeMutablePointer<Result>, rows: Int, depth: Int, input: UnsafePointer<Argument>)

  /// Whether it has code for rows that take long: ``fillLong(_:count:input:poll:)``.
  static var hasLongRows: Bool { get }

  /// Computes one row, or ends early if `poll` says so.
  func fillLong(
    _ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>, poll: inout StopPoll)
}

extension RowFunction {
  var loopDescription: String { "portable loop" }

  static var hasLongRows: Bool { false }

  func fillLong(
    _ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>, poll: inout StopPoll
  ) {
    unsafe fill(output, count: count, input: input)
  }

  @inline(__always)
  func fill(
    _ output: UnsafeMutablePointer<Result>, rows: Int, depth: Int, input: UnsafePointer<Argument>
  ) {
    for row in 0..<rows {
      unsafe fill(output + row &* depth, count: depth, input: input + row &* depth)
    }
  }
}

/// The longest row, in elements, that generated code computes as a whole, without asking whether the run must end.
let longestGeneratedRow = 1 << 22

extension Decline {
  /// A row is too long for code that does not ask whether the run must end.
  init(longRow depth: Int) {
    self.init(
      "rows of \(depth) elements are more than \(longestGeneratedRow), so that loops ask whether to stop"
    )
  }
}

/// Calls `body` for pieces of a long row, until `poll` says that the run must end. Pieces but the last have a multiple of 64 elements.
@inline(__always)
func forEachPiece(of count: Int, _ poll: inout StopPoll, _ body: (Range<Int>) -> Void) {
  var first = 0
  while first < count, !poll.mustStop(before: 1 << 18) {
    let end = min(first &+ (1 << 18), count)
    body(first..<end)
    first = end
  }
}
