// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// MediaPipe's `MaxPoolingWithArgmax2D` and `MaxUnpooling2D`.
///
/// The options are six 32-bit integers: the padding, 1 for SAME and 2 for VALID, the strides of columns and rows, the
/// window's columns and rows, and the fused activation.
enum ArgmaxPooling2D {
  static func pool(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1, outputs: 2...2)
    let input = try node.input(0, types: [.float32], rank: 4)
    let options = try Options(node)
    let window = try node.window(
      over: [input.shape[1], input.shape[2]], taps: [options.filter.height, options.filter.width],
      strides: [options.stride.height, options.stride.width], padding: options.isSame ? 0 : 1)
    let (rows, columns) = (window[0], window[1])
    let shape: TensorShape = [input.shape[0], rows.places, columns.places, input.shape[3]]
    try node.check(
      plainWork: Double(shape.elementCount) * Double(min(options.filter.height, input.shape[1]))
        * Double(min(options.filter.width, input.shape[2])))
    return Pool(
      input: input, output: try node.output(0, shape: shape, like: input),
      indices: try node.output(1, shape: shape, like: input),
      kernel: ArgmaxPooling(
        batches: input.shape[0], vertical: rows, horizontal: columns, channels: input.shape[3]),
      bounds: options.bounds)
  }

  static func unpool(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, types: [.float32], rank: 4)
    let indices = try node.input(1, types: [.float32], rank: 4)
    guard indices.shape == input.shape else {
      throw node.malformed("\(indices.name) is \(indices.shape), not \(input.shape)")
    }
    let options = try Options(node)
    func axis(_ count: Int, _ filter: Int, _ stride: Int) throws(ApusError) -> WindowAxis {
      let (large, overflow) = count.multipliedReportingOverflow(by: filter)
      guard !overflow, large < 1 << 31 else {
        throw node.malformed("\(count) windows of \(filter) are too large")
      }
      var axis = WindowAxis(size: large, places: count, taps: filter, stride: stride)
      axis.padding = axis.samePadding
      return axis
    }
    let rows = try axis(input.shape[1], options.filter.height, options.stride.height)
    let columns = try axis(input.shape[2], options.filter.width, options.stride.width)
    let output = try node.output(
      0, shape: [input.shape[0], rows.size, columns.size, input.shape[3]], like: input)
    return Unpool(
      input: input, indices: indices, output: output,
      kernel: ArgmaxPooling(
        batches: input.shape[0], vertical: rows, horizontal: columns, channels: input.shape[3]))
  }

  private struct Options {
    let isSame: Bool
    let stride: (height: Int, width: Int)
    let filter: (height: Int, width: Int)
    let bounds: (minimum: Float, maximum: Float)

    init(_ node: Node) throws(ApusError) {
      let values = try node.customIntegers(count: 6)
      guard values[1...4].allSatisfy({ $0 > 0 && $0 <= 32_767 }) else {
        throw node.malformed("strides and sizes of the window are \(values[1...4]), not in 1 to 32767")
      }
      isSame = values[0] == 1
      stride = (height: values[2], width: values[1])
      filter = (height: values[4], width: values[3])
      guard let activation = FusedActivation(rawValue: Int(values[5])),
        let bounds = activation.bounds
      else {
        throw node.unsupported("fused activation \(values[5]) is not supported")
      }
      self.bounds = bounds
    }
  }

  private struct Pool: Operator {
    let input: TensorSlot
    let output: TensorSlot
    let indices: TensorSlot
    let kernel: ArgmaxPooling
    let bounds: (minimum: Float, maximum: Float)

    func invoke(_ tensors: borrowing TensorTable) {
      var result = tensors.write(output, as: Float.self)
      var places = tensors.write(indices, as: Float.self)
      kernel.pool(
        tensors.read(input), to: &result, indices: &places, minimum: bounds.minimum, maximum: bounds.maximum,
        threads: tensors.threads)
    }
  }

  private struct Unpool: Operator {
    let input: TensorSlot
    let indices: TensorSlot
    let output: TensorSlot
    let kernel: ArgmaxPooling

    func invoke(_ tensors: borrowing TensorTable) {
      var result = tensors.write(output, as: Float.self)
      kernel.unpool(
        tensors.read(input), indices: tensors.read(indices), to: &result, threads: tensors.threads)
    }
  }
}
