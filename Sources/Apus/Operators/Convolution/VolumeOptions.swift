// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The options of CONV_3D and CONV_3D_TRANSPOSE; triples are depth, height, width.
struct VolumeOptions {
  let padding: Int
  let strides: [Int]
  let dilations: [Int]

  init(_ node: Node) throws(ApusError) {
    let options = node.options.conv3D
    padding = try options.padding
    strides = [try options.strideDepth, try options.strideHeight, try options.strideWidth]
    dilations = [try options.dilationDepth, try options.dilationHeight, try options.dilationWidth]
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
