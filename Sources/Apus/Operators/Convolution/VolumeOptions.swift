// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The options of CONV_3D and CONV_3D_TRANSPOSE; triples are depth, height, width.
struct VolumeOptions {
  let isSame: Bool
  let strides: [Int]
  let dilations: [Int]

  init(_ node: Node) throws(ApusError) {
    let options = node.options.conv3D
    let padding = try options.padding
    guard padding == 0 || padding == 1 else { throw node.malformed("padding \(padding) is unknown") }
    isSame = padding == 0
    strides = [try options.strideDepth, try options.strideHeight, try options.strideWidth]
    dilations = [try options.dilationDepth, try options.dilationHeight, try options.dilationWidth]
    guard strides.allSatisfy({ $0 > 0 }), dilations.allSatisfy({ $0 > 0 }) else {
      throw node.malformed("strides \(strides) and dilations \(dilations) must be positive")
    }
  }

  /// The places of a filter along an axis, and the padding before the first.
  func extent(
    _ axis: Int, size: Int, filter: Int, node: Node
  ) throws(ApusError) -> (places: Int, padding: Int) {
    let (reach, overflow) = (filter - 1).multipliedReportingOverflow(by: dilations[axis])
    guard !overflow, reach < 1 << 40, size < 1 << 40 else {
      throw node.malformed("a window of \(filter) taps \(dilations[axis]) apart is too large")
    }
    let places =
      isSame ? (size + strides[axis] - 1) / strides[axis] : (size + strides[axis] - reach - 1) / strides[axis]
    guard places >= 0 else { throw node.malformed("a window of \(reach + 1) does not fit in \(size)") }
    return (places, max(0, (places - 1) * strides[axis] + reach + 1 - size) / 2)
  }

  /// The bytes of floats of a shape.
  func byteCount(_ shape: [Int], _ node: Node) throws(ApusError) -> Int {
    let (count, overflow) = TensorShape(shape).elementCount.multipliedReportingOverflow(by: 4)
    guard !overflow else {
      throw node.malformed("\(TensorShape(shape)) floats take more bytes than can be counted")
    }
    return count
  }

  /// How many of `count` items of `byteCount` bytes are processed at once: a divisor of their number, at about half a
  /// megabyte in total, which stays in the second-level cache.
  static func perBlock(of count: Int, byteCount: Int) -> Int {
    var divisor = max(1, min(count, (1 << 19) / max(1, byteCount)))
    while count % divisor != 0 { divisor -= 1 }
    return divisor
  }
}
