/// Running sums along the middle one of three axes.
package struct RunningSum: Sendable {
  private let elements: Reduction.Elements
  private let outer: Int
  private let length: Int
  private let inner: Int
  private let isExclusive: Bool
  private let isReversed: Bool

  /// Sums of float32, int32 or int64.
  package init(
    _ elements: Reduction.Elements, outer: Int, length: Int, inner: Int, isExclusive: Bool, isReversed: Bool
  ) {
    self.elements = elements
    self.outer = outer
    self.length = length
    self.inner = inner
    self.isExclusive = isExclusive
    self.isReversed = isReversed
  }

  /// Sums; the spans must be as large as the axes say.
  package func run(_ input: RawSpan, to output: inout MutableRawSpan) {
    let byteCount = outer * length * inner * elements.byteCount
    precondition(input.byteCount >= byteCount && output.byteCount >= byteCount)
    switch elements {
    case .float32: run(input, &output, Float(0)) { $0 + $1 }
    case .int64: run(input, &output, Int64(0)) { $0 &+ $1 }
    default: run(input, &output, Int32(0)) { $0 &+ $1 }
    }
  }

  @inline(__always)
  private func run<T: BitwiseCopyable>(
    _ input: RawSpan, _ output: inout MutableRawSpan, _ zero: T, _ add: (T, T) -> T
  ) {
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        let from = unsafe input.assumingMemoryBound(to: T.self)
        let to = unsafe output.assumingMemoryBound(to: T.self)
        for block in 0..<outer {
          for column in 0..<inner {
            var sum = zero
            for step in 0..<length {
              let row = isReversed ? length &- 1 &- step : step
              let place = (block &* length &+ row) &* inner &+ column
              let next = unsafe add(sum, from[place])
              unsafe to[place] = isExclusive ? sum : next
              sum = next
            }
          }
        }
      }
    }
  }
}
