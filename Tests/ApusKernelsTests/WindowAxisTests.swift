// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import Testing

/// Places and padding of windows, counted one by one.
@Suite struct WindowAxisTests {
  private static let axes: [(size: Int, taps: Int, stride: Int, dilation: Int)] =
    (1...9).flatMap { size in
      (1...5).flatMap { taps in
        (1...4).flatMap { stride in (1...3).map { (size, taps, stride, $0) } }
      }
    }

  @Test("VALID has a place for each window that lies in the array, and none outside")
  func valid() {
    for (size, taps, stride, dilation) in Self.axes {
      let axis = WindowAxis(size: size, taps: taps, stride: stride, dilation: dilation, isSame: false)
      let starts = Swift.stride(from: 0, to: size, by: stride).filter { $0 + (taps - 1) * dilation < size }
      #expect(max(axis.places, 0) == starts.count && axis.padding == 0 && !axis.reachesOutside)
      #expect(axis.places >= 0 || axis.reach > size)
    }
  }

  @Test("SAME has a place for each stride, and pads as little at the start as at the end, or one less")
  func same() {
    for (size, taps, stride, dilation) in Self.axes {
      let axis = WindowAxis(size: size, taps: taps, stride: stride, dilation: dilation, isSame: true)
      #expect(axis.places == Swift.stride(from: 0, to: size, by: stride).reduce(0) { count, _ in count + 1 })
      let end = (axis.places - 1) * stride - axis.padding + (taps - 1) * dilation
      let after = max(0, end - size + 1)
      #expect(axis.padding == 0 || (0...1).contains(after - axis.padding))
      #expect(axis.padding > 0 || after <= 1)
      #expect(axis.reachesOutside == (axis.padding > 0 || after > 0))
    }
  }
}
