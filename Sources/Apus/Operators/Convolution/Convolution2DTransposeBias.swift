// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// MediaPipe's `Convolution2DTransposeBias`: TRANSPOSE_CONV on floats with a bias, whose output size follows from
/// the input's.
///
/// The options are three 32-bit integers: the padding, 1 for SAME and 2 for VALID, the stride of columns and that of
/// rows.
enum Convolution2DTransposeBias {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let input = try node.input(0, types: [.float32], rank: 4)
    let filter = try node.input(1, types: [.float32], rank: 4)
    let bias = try node.input(2, types: [.float32], rank: 1)
    let options = try node.customIntegers(count: 3)
    let (padding, strideWidth, strideHeight) = (options[0], options[1], options[2])
    guard (1...32_767).contains(strideWidth), (1...32_767).contains(strideHeight) else {
      throw node.malformed("the strides \(strideHeight), \(strideWidth) are not in 1 to 32767")
    }
    guard input.shape[1] > 0, input.shape[2] > 0, filter.shape.elementCount > 0,
      input.shape[3] == filter.shape[3],
      bias.shape[0] == filter.shape[0]
    else {
      throw node.malformed(
        "a filter of \(filter.shape) and a bias of \(bias.shape) do not fit \(input.shape)")
    }
    func axis(_ size: Int, _ taps: Int, _ stride: Int) throws(ApusError) -> WindowAxis {
      let removed = padding == 1 ? max(0, taps - (size - 1) % stride - 1) : 0
      let (reach, overflow) = (size - 1).multipliedReportingOverflow(by: stride)
      guard !overflow, reach < 1 << 40 else { throw node.malformed("a stride of \(stride) is too large") }
      return WindowAxis(
        size: reach + taps - removed, places: size, taps: taps, stride: stride, padding: removed / 2)
    }
    let vertical = try axis(input.shape[1], filter.shape[1], strideHeight)
    let horizontal = try axis(input.shape[2], filter.shape[2], strideWidth)
    let output = try node.output(
      0, shape: [input.shape[0], vertical.size, horizontal.size, filter.shape[0]], like: input)
    return try TransposedProduct.prepare(
      .init(
        input: input, filter: filter, bias: bias, output: output, vertical: vertical,
        horizontal: horizontal, operands: .float32, epilogue: node.floatEpilogue(.none)),
      node: node)
  }
}

extension Node {
  /// The 32-bit integers at the beginning of a custom operator's options.
  func customIntegers(count: Int) throws(ApusError) -> [Int] {
    let bytes = customOptions
    guard bytes.count >= count * 4 else {
      throw malformed("has \(bytes.count) bytes of options; at least \(count * 4) are expected")
    }
    return (0..<count).map { index in
      let word = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[index * 4 + $1]) << UInt32(8 * $1) }
      return Int(Int32(bitPattern: word))
    }
  }
}
