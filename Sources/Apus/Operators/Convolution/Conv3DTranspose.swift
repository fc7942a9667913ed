// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// `CONV_3D_TRANSPOSE`: each element of `N×D×H×W×I` floats adds its products with a `d×h×w×O×I` filter to a window
/// of the output.
struct Conv3DTranspose: UnpackedOperator {
  private let input: TensorSlot
  private let bias: TensorSlot?
  private let output: TensorSlot
  /// The window over the output; its positions are the input's elements.
  private let window: VolumeWindow
  private let kernel: any PreparedConvolution
  private let choice: KernelChoice
  private var weights: ProductWeights
  private let linesPerBlock: Int
  private let products: TensorSlot
  private let scratch: TensorSlot
  private let bounds: (minimum: Float, maximum: Float)

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...4)
    return try Conv3DTranspose(node)
  }

  private init(_ node: Node) throws(ApusError) {
    let shapeInput = try node.input(0, types: [.int32], rank: 1)
    let filter = try node.input(1, types: [.float32], rank: 5)
    input = try node.input(2, types: [.float32], rank: 5)
    let dimensions = try node.integers(of: shapeInput)
    guard dimensions.count == 5 else {
      throw node.malformed("\(shapeInput.name) has \(dimensions.count) values, not 5")
    }
    guard input.shape[4] == filter.shape[4], filter.shape.elementCount > 0, dimensions[0] == input.shape[0],
      dimensions[4] == filter.shape[3], dimensions.allSatisfy({ $0 >= 0 })
    else {
      throw node.malformed(
        "\(input.shape) with a filter of \(filter.shape) cannot become \(TensorShape(dimensions))"
      )
    }
    let options = try VolumeOptions(node)
    window = VolumeWindow(
      batches: input.shape[0],
      axes: try node.window(
        over: Array(dimensions[1...3]), taps: Array(filter.shape.dimensions[0...2]),
        strides: options.strides, dilations: options.dilations, padding: options.padding),
      channels: filter.shape[3])
    for (axis, size) in zip(window.axes, input.shape.dimensions[1...3]) where axis.places != size {
      throw node.malformed("\(axis.size) outputs would have \(axis.places) inputs, not \(size)")
    }
    bias = try node.bias(3, channels: filter.shape[3], types: [.float32])
    output = try node.output(0, shape: TensorShape(dimensions), like: input)
    bounds =
      try node.activation(node.options.conv3D.activation).bounds ?? (
        -.greatestFiniteMagnitude, .greatestFiniteMagnitude
      )
    linesPerBlock = VolumeOptions.perBlock(
      of: window.lineCount, byteCount: try options.byteCount([input.shape[3], window.depth], node))
    let convolution = Convolution(
      rows: linesPerBlock * input.shape[3], depth: input.shape[4], columns: window.depth, operands: .float32,
      epilogue: node.floatEpilogue(.none))
    let (kernel, choice) = try node.kernel(for: convolution, input, filter)
    self.kernel = kernel
    self.choice = choice
    weights = ProductWeights(filter: filter, bias: nil)
    products = try node.scratch(
      byteCount: try options.byteCount([linesPerBlock, input.shape[3], window.depth], node))
    scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    try node.declare(multiplyAccumulates: Double(input.shape.elementCount) * Double(window.depth))
  }

  var implementation: Implementation {
    Implementation(text: kernel.implementation, choice: choice, notes: kernel.notes(weights.known))
  }

  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator {
    var copy = self
    try copy.weights.pack(for: kernel, by: packer)
    return copy
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    guard output.shape.elementCount > 0 else { return }
    let packed = try weights.packed(for: kernel, tensors)
    var result = tensors.writeBytes(output)
    unsafe result.withUnsafeMutableBytes { bytes in
      _ = unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }
    let blockByteCount = linesPerBlock &* window.axes[2].places &* input.shape[4] &* 4
    var line = 0
    while line < window.lineCount {
      if tensors.threads.mustStop { return }
      let start = line / linesPerBlock &* blockByteCount
      var rows = tensors.writeBytes(products)
      var scratch = tensors.writeBytes(scratch)
      kernel.run(
        packed, input: tensors.readBytes(input).extracting(start..<start &+ blockByteCount),
        output: &rows,
        scratch: &scratch, threads: tensors.threads)
      window.scatter(rows.bytes, lines: line..<line &+ linesPerBlock, to: &result, threads: tensors.threads)
      line &+= linesPerBlock
    }
    if let bias {
      VolumeWindow.finish(
        &result, channels: window.channels, bias: tensors.readBytes(bias), minimum: bounds.minimum,
        maximum: bounds.maximum)
    } else {
      VolumeWindow.finish(
        &result, channels: window.channels, bias: nil, minimum: bounds.minimum, maximum: bounds.maximum)
    }
  }
}
