// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// `CONV_3D`: the products of windows of `N×D×H×W×C` floats with filters of `d×h×w×C×O`, plus a bias.
///
/// The layers under a window's depth, side by side as channels, form an image, on which this is a CONV_2D.
struct Conv3D: UnpackedOperator {
  private let input: TensorSlot
  private let filter: TensorSlot
  private let bias: TensorSlot?
  private let output: TensorSlot
  private let window: VolumeWindow
  private let kernel: any PreparedConvolution
  private let choice: KernelChoice
  private var weights: ProductWeights
  private let imagesPerBlock: Int
  private let images: TensorSlot
  private let scratch: TensorSlot

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...3)
    let layer = try Conv3D(node)
    if let direct = try layer.direct(node) { return direct }
    return layer
  }

  /// The layer in plain code, if that is needed for its filter.
  private func direct(_ node: Node) throws(ApusError) -> DirectConvolutionOperator? {
    let channels = output.shape[4]
    let epilogue = node.floatEpilogue(try node.activation(node.options.conv3D.activation))
    return try DirectConvolutionOperator(
      reachesOutside: window.axes.contains(where: \.reachesOutside), input: input, filter: filter,
      bias: bias, output: output, node: node
    ) {
      DirectConvolution(
        batches: window.batches, axes: window.axes, channels: window.channels, outputChannels: channels,
        steps: .init(output: 1, tap: window.channels * channels, channel: channels), epilogue: epilogue)
    }
  }

  private init(_ node: Node) throws(ApusError) {
    input = try node.input(0, types: [.float32], rank: 5)
    filter = try node.input(1, types: [.float32], rank: 5)
    guard input.shape[4] == filter.shape[3], filter.shape.elementCount > 0,
      input.shape.dimensions.dropFirst().allSatisfy({ $0 > 0 })
    else { throw node.malformed("a filter of \(filter.shape) does not fit \(input.name), \(input.shape)") }
    let options = try VolumeOptions(node)
    window = VolumeWindow(
      batches: input.shape[0],
      axes: try node.window(
        over: Array(input.shape.dimensions[1...3]), taps: Array(filter.shape.dimensions[0...2]),
        strides: options.strides, dilations: options.dilations, padding: options.padding),
      channels: input.shape[4])
    let (layers, rows, columns) = (window.axes[0], window.axes[1], window.axes[2])
    let channels = filter.shape[4]
    bias = try node.bias(2, channels: channels, types: [.float32])
    output = try node.output(
      0, shape: [input.shape[0], layers.places, rows.places, columns.places, channels], like: input)
    let image = [rows.size, columns.size, layers.taps * window.channels]
    let imageByteCount = try options.byteCount(image, node)
    imagesPerBlock = VolumeOptions.perBlock(of: window.batches * layers.places, byteCount: imageByteCount)
    let convolution = Convolution(
      batches: imagesPerBlock, vertical: rows, horizontal: columns, inputChannels: image[2],
      outputChannels: channels, operands: .float32,
      epilogue: node.floatEpilogue(try node.activation(node.options.conv3D.activation)))
    let (kernel, choice) = try node.kernel(for: convolution, input, filter)
    self.kernel = kernel
    self.choice = choice
    weights = ProductWeights(
      filter: filter, bias: bias, arrangement: VolumeFilter(window, outputChannels: channels))
    images = try node.scratch(byteCount: try options.byteCount([imagesPerBlock] + image, node))
    scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    try node.declare(multiplyAccumulates: Double(output.shape.elementCount) * Double(window.depth))
    // Strides may skip most of the images.
    try node.check(work: Double(window.batches) * Double(layers.places) * Double(imageByteCount / 4))
  }

  var implementation: Implementation {
    Implementation(text: kernel.implementation, choice: choice, notes: kernel.notes(weights.known))
  }

  var summation: String? { kernel.summation }

  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator {
    var copy = self
    try copy.weights.pack(for: kernel, by: packer)
    return copy
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    guard output.shape.elementCount > 0 else { return }
    let packed = try weights.packed(for: kernel, tensors)
    let imageByteCount = window.axes[1].places &* window.axes[2].places &* output.shape[4] &* 4
    var image = 0
    while image < window.batches &* window.axes[0].places {
      if tensors.threads.mustStop { return }
      let range = image..<image &+ imagesPerBlock
      var layers = tensors.writeBytes(images)
      window.gather(tensors.readBytes(input), images: range, to: &layers, threads: tensors.threads)
      var result = tensors.writeBytes(
        output, in: range.lowerBound &* imageByteCount..<range.upperBound &* imageByteCount)
      var scratch = tensors.writeBytes(scratch)
      kernel.run(
        packed, input: layers.bytes, output: &result, scratch: &scratch, threads: tensors.threads)
      image = range.upperBound
    }
  }
}

/// A filter of `d×h×w×C×O` as one of `O×h×w×dC`.
private struct VolumeFilter: FilterArrangement {
  private let layers: Int
  private let taps: Int
  private let channels: Int
  private let outputChannels: Int

  init(_ window: VolumeWindow, outputChannels: Int) {
    (layers, taps) = (window.axes[0].taps, window.axes[1].taps * window.axes[2].taps)
    (channels, self.outputChannels) = (window.channels, outputChannels)
  }

  var byteCount: Int { layers * taps * channels * outputChannels * 4 }
  var name: String { "\(layers) layers of \(taps)×\(channels)×\(outputChannels) as channels" }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    let depth = taps &* layers &* channels
    var row = 0
    for layer in 0..<layers {
      for tap in 0..<taps {
        for channel in 0..<channels {
          // One row of the filter: the weights of all outputs.
          ElementRuns.copy(
            from: filter, at: row &* outputChannels &* 4, step: 4, to: &arranged,
            at: ((tap &* layers &+ layer) &* channels &+ channel) &* 4, step: depth &* 4, byteCount: 4,
            count: outputChannels)
          row &+= 1
        }
      }
    }
  }
}
