// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension Node {
  /// Describes how a window slides over some axes, with the padding that options name: 0 is SAME, and 1 is VALID.
  ///
  /// - Parameters:
  ///   - dilations: The dilation of each axis; by default 1.
  ///   - mayMiss: Whether a window that is larger than an axis has no places, as in the reference's pooling.
  /// - Throws: if sizes or steps are not positive or overflow, or if the window does not fit.
  func window(
    over sizes: [Int], taps: [Int], strides: [Int], dilations: [Int]? = nil, padding: Int,
    mayMiss: Bool = false
  ) throws(ApusError) -> [WindowAxis] {
    func list(_ numbers: [Int], _ separator: String) -> String {
      numbers.map { String($0) }.joined(separator: separator)
    }
    guard padding == 0 || padding == 1 else { throw malformed("padding \(padding) is unknown") }
    guard strides.allSatisfy({ $0 > 0 }), dilations?.allSatisfy({ $0 > 0 }) ?? true else {
      let dilations = dilations ?? strides.map { _ in 1 }
      throw malformed(
        "strides \(list(strides, ", ")) and dilations \(list(dilations, ", ")) must be positive")
    }
    guard taps.allSatisfy({ $0 > 0 }) else {
      throw malformed(
        "the window is \(list(taps, "×")); at least \(list(taps.map { _ in 1 }, "×")) is expected")
    }
    var axes: [WindowAxis] = []
    axes.reserveCapacity(sizes.count)
    for index in sizes.indices {
      let (size, taps, dilation) = (sizes[index], taps[index], dilations?[index] ?? 1)
      let (reach, overflow) = (taps - 1).multipliedReportingOverflow(by: dilation)
      guard !overflow, reach < 1 << 40, size < 1 << 40 else {
        throw malformed("a window of \(taps) taps \(dilation) apart is too large")
      }
      let axis = WindowAxis(
        size: size, taps: taps, stride: strides[index], dilation: dilation, isSame: padding == 0)
      guard axis.places >= 0 || mayMiss else {
        throw malformed("a window of \(axis.reach) does not fit in \(size) without padding")
      }
      axes.append(axis)
    }
    return axes
  }
}
