// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Reduces the elements in a window that moves over a tensor.
///
/// The tensor is first dilated, a spread of positions from one element to the next, and then padded at each end.
/// Positions without an element have the initial value. There are at most eight axes.
package struct WindowReduction: Sendable {
  private let axes: [WindowAxis]
  private let spreads: [Int]
  private let fold: ElementFold
  private let elements: ScalarType

  /// Describes a reduction.
  ///
  /// - Parameters:
  ///   - axes: How the window moves; sizes are those of the tensor. Padding is negative if the first elements are cut off.
  ///   - spreads: The distance of consecutive elements in the dilated tensor, for each axis.
  package init(_ axes: [WindowAxis], spreads: [Int], _ fold: ElementFold, _ elements: ScalarType) {
    precondition(axes.count <= 8 && spreads.count == axes.count)
    self.axes = axes
    self.spreads = spreads
    self.fold = fold
    self.elements = elements
  }

  /// Writes the reduction of each position of the window.
  package func run(
    _ input: RawSpan, initial: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam
  ) {
    var poll = StopPoll(threads)
    switch elements {
    case .float32: run(input, initial, &output, &poll, fold.floats(Float.self))
    case .float64: run(input, initial, &output, &poll, fold.floats(Double.self))
    case .int8, .bool: run(input, initial, &output, &poll, fold.integers(Int8.self))
    case .uint8: run(input, initial, &output, &poll, fold.integers(UInt8.self))
    case .int16: run(input, initial, &output, &poll, fold.integers(Int16.self))
    case .uint16: run(input, initial, &output, &poll, fold.integers(UInt16.self))
    case .int32: run(input, initial, &output, &poll, fold.integers(Int32.self))
    case .uint32: run(input, initial, &output, &poll, fold.integers(UInt32.self))
    case .int64: run(input, initial, &output, &poll, fold.integers(Int64.self))
    case .uint64: run(input, initial, &output, &poll, fold.integers(UInt64.self))
    default: elements.isNotTaken()
    }
  }

  private func run<T: BitwiseCopyable>(
    _ input: RawSpan, _ initial: RawSpan, _ output: inout MutableRawSpan, _ poll: inout StopPoll,
    _ fold: (T, T) -> T
  ) {
    let width = MemoryLayout<T>.stride
    // The product wraps only if some size is zero.
    let count = axes.reduce(1) { $0 &* $1.places }
    precondition(
      input.byteCount >= axes.reduce(width) { $0 &* $1.size } && initial.byteCount >= width
        && output.byteCount >= count * width)
    guard count > 0 else { return }
    let start = unsafe initial.unsafeLoadUnaligned(as: T.self)
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        var place = SIMD8<Int>.zero
        for target in 0..<count {
          if poll.mustStop(before: 1) { return }
          var result = start
          unsafe reduce(0, 0, place, start, input, &result, &poll, fold)
          unsafe output.storeBytes(of: result, toByteOffset: target &* width, as: T.self)
          advance(&place)
        }
      }
    }
  }

  /// Reduces the window along an axis and those after it; `element` is nil outside the tensor.
  private func reduce<T: BitwiseCopyable>(
    _ axis: Int, _ element: Int?, _ place: SIMD8<Int>, _ start: T, _ input: UnsafeRawBufferPointer,
    _ result: inout T, _ poll: inout StopPoll, _ fold: (T, T) -> T
  ) {
    guard axis < axes.count else {
      let value = element.map {
        unsafe input.loadUnaligned(fromByteOffset: $0 &* MemoryLayout<T>.stride, as: T.self)
      }
      result = fold(value ?? start, result)
      return
    }
    let (shape, spread) = (axes[axis], spreads[axis])
    var position = place[axis] &* shape.stride &- shape.padding
    for _ in 0..<shape.taps {
      if poll.mustStop(before: 4) { return }
      let isInside = position >= 0 && position % spread == 0 && position / spread < shape.size
      let next = isInside ? element.map { $0 &* shape.size &+ position / spread } : nil
      unsafe reduce(axis &+ 1, next, place, start, input, &result, &poll, fold)
      position &+= shape.dilation
    }
  }

  private func advance(_ place: inout SIMD8<Int>) {
    for axis in axes.indices.reversed() {
      place[axis] &+= 1
      if place[axis] < axes[axis].places { return }
      place[axis] = 0
    }
  }
}
