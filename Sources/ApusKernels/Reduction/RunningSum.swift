// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Running sums along the middle one of three axes.
package struct RunningSum: Sendable {
  private let elements: ScalarType
  private let outer: Int
  private let length: Int
  private let inner: Int
  private let isExclusive: Bool
  private let isReversed: Bool

  /// Sums of float32, int32 or int64.
  package init(
    _ elements: ScalarType, outer: Int, length: Int, inner: Int, isExclusive: Bool, isReversed: Bool
  ) {
    self.elements = elements
    self.outer = outer
    self.length = length
    self.inner = inner
    self.isExclusive = isExclusive
    self.isReversed = isReversed
  }

  /// Sums, unless the run has to end; the spans must be as large as the axes say.
  package func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    var poll = StopPoll(threads)
    let byteCount = outer * length * inner * elements.byteCount
    precondition(input.byteCount >= byteCount && output.byteCount >= byteCount)
    switch elements {
    case .float32: run(input, &output, Float(0), &poll) { $0 + $1 }
    case .int64: run(input, &output, Int64(0), &poll) { $0 &+ $1 }
    default: run(input, &output, Int32(0), &poll) { $0 &+ $1 }
    }
  }

  @inline(__always)
  private func run<T: BitwiseCopyable>(
    _ input: RawSpan, _ output: inout MutableRawSpan, _ zero: T, _ poll: inout StopPoll, _ add: (T, T) -> T
  ) {
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        guard length > 0, inner > 0, let from = unsafe input.baseAddress?.assumingMemoryBound(to: T.self),
          let to = unsafe output.baseAddress?.assumingMemoryBound(to: T.self)
        else { return }
        for block in 0..<outer {
          let first = unsafe from + block &* length &* inner
          let result = unsafe to + block &* length &* inner
          if inner == 1 {
            unsafe runLine(first, result, zero, &poll, add)
          } else {
            unsafe runLines(first, result, zero, &poll, add)
          }
        }
      }
    }
  }

  @inline(__always)
  private func runLine<T: BitwiseCopyable>(
    _ from: UnsafePointer<T>, _ to: UnsafeMutablePointer<T>, _ zero: T, _ poll: inout StopPoll,
    _ add: (T, T) -> T
  ) {
    var sum = zero
    for step in 0..<length {
      if step & 0xFFFF == 0, poll.mustStop(before: min(length, 1 << 16)) { return }
      let place = isReversed ? length &- 1 &- step : step
      let next = unsafe add(sum, from[place])
      unsafe to[place] = isExclusive ? sum : next
      sum = next
    }
  }

  /// Each row is the previous row plus a row of the input, so that memory is accessed in order.
  @inline(__always)
  private func runLines<T: BitwiseCopyable>(
    _ from: UnsafePointer<T>, _ to: UnsafeMutablePointer<T>, _ zero: T, _ poll: inout StopPoll,
    _ add: (T, T) -> T
  ) {
    for step in 0..<length {
      if poll.mustStop(before: inner) { return }
      let row = (isReversed ? length &- 1 &- step : step) &* inner
      let previous = isReversed ? row &+ inner : row &- inner
      let addend = isExclusive ? previous : row
      for column in 0..<inner {
        let sum = unsafe step == 0 ? zero : to[previous &+ column]
        let isNone = step == 0 && isExclusive
        unsafe to[row &+ column] = isNone ? sum : add(sum, from[addend &+ column])
      }
    }
  }
}
