// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A reduction of float32 or int32 rows into the segments that an index per row names.
package struct SegmentFold: Sendable {
  private let kind: Reduction.Kind
  private let elements: ScalarType
  private let rows: Int
  private let segments: Int
  private let length: Int

  /// The results that are set before the clock is looked at again.
  private static let part = 1 << 18

  /// Describes a reduction of `rows` rows of `length` values each.
  package init(_ kind: Reduction.Kind, _ elements: ScalarType, rows: Int, segments: Int, length: Int) {
    self.kind = kind
    self.elements = elements
    self.rows = rows
    self.segments = segments
    self.length = length
  }

  /// Reduces; skips rows with a negative segment. Returns the first segment that is too large, if any.
  package func run(
    _ input: RawSpan, by names: Span<Int32>, to output: inout MutableRawSpan, threads: ThreadTeam
  ) -> Int32? {
    if elements == .float32 { return run(FloatFolding.self, input, names, &output, threads) }
    return run(IntegerFolding<Int32>.self, input, names, &output, threads)
  }

  @inline(__always)
  private func run<F: Folding>(
    _ folding: F.Type, _ input: RawSpan, _ names: Span<Int32>, _ output: inout MutableRawSpan,
    _ threads: ThreadTeam
  ) -> Int32? {
    switch kind {
    case .sum: fold(F.Sum.self, F.zero, input, names, &output, threads)
    case .product: fold(F.Product.self, F.one, input, names, &output, threads)
    case .maximum: fold(Maximum<F.Element>.self, F.least, input, names, &output, threads)
    case .minimum: fold(Minimum<F.Element>.self, F.greatest, input, names, &output, threads)
    }
  }

  @inline(__always)
  private func fold<C: Combination>(
    _ combination: C.Type, _ initial: C.Result, _ input: RawSpan, _ names: Span<Int32>,
    _ output: inout MutableRawSpan, _ threads: ThreadTeam
  ) -> Int32? {
    let width = MemoryLayout<C.Element>.stride
    precondition(
      names.count >= rows && input.byteCount >= rows * length * width
        && output.byteCount >= segments * length * width)
    return unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        let from = unsafe input.assumingMemoryBound(to: C.Element.self)
        let to = unsafe output.assumingMemoryBound(to: C.Result.self)
        var poll = StopPoll(threads)
        let count = segments &* length
        for start in stride(from: 0, to: count, by: Self.part) {
          let end = min(start &+ Self.part, count)
          if poll.mustStop(before: end &- start) { return nil }
          for index in start..<end { unsafe to[index] = initial }
        }
        for row in 0..<rows {
          if poll.mustStop(before: length) { return nil }
          let segment = names[row]
          guard segment >= 0 else { continue }
          guard segment < segments else { return segment }
          for index in 0..<length {
            let place = Int(segment) &* length &+ index
            unsafe to[place] = C.combine(to[place], from[row &* length &+ index])
          }
        }
        return nil
      }
    }
  }
}
