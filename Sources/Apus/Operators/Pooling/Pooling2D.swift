// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `AVERAGE_POOL_2D`, `MAX_POOL_2D` and `L2_POOL_2D`: one number for each channel of a window over an NHWC
/// tensor.
struct Pooling2D: Operator {
  private let pooling: Pooling
  private let input: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot?

  static func average(_ node: Node) throws(ApusError) -> any Operator { try prepare(.average, node) }
  static func maximum(_ node: Node) throws(ApusError) -> any Operator { try prepare(.maximum, node) }
  static func l2(_ node: Node) throws(ApusError) -> any Operator { try prepare(.l2, node) }

  private static func prepare(_ kind: Pooling.Kind, _ node: Node) throws(ApusError) -> any Operator {
    try Pooling2D(kind, node) ?? DataMovement([])
  }

  /// Reads and checks the tensors; nil if the output has no elements.
  private init?(_ kind: Pooling.Kind, _ node: Node) throws(ApusError) {
    try node.expect(inputs: 1...1)
    input = try node.input(0, rank: 4)
    let options = node.options.pool2D
    let (filterHeight, filterWidth) = (try options.filterHeight, try options.filterWidth)
    let window = try node.window(
      over: [input.shape[1], input.shape[2]], taps: [filterHeight, filterWidth],
      strides: [options.strideHeight, options.strideWidth], padding: options.padding, mayMiss: true)
    var (vertical, horizontal) = (window[0], window[1])
    // A window that is too wide has no rows either, as in the reference.
    vertical.places = horizontal.places < 0 ? 0 : max(vertical.places, 0)
    horizontal.places = max(horizontal.places, 0)
    let shape: TensorShape = [input.shape[0], vertical.places, horizontal.places, input.shape[3]]
    output = try node.output(0, shape: shape, like: input)
    guard shape.elementCount > 0 else { return nil }
    // No window has more of the input than there is.
    try node.check(
      work: Double(shape.elementCount) * Double(min(filterHeight, input.shape[1]))
        * Double(min(filterWidth, input.shape[2])))
    // The taps of each row and column, and the vectors that code makes of channels.
    try node.keep(tablesOf: vertical.places + horizontal.places + input.shape[3], entryByteCount: 48)
    let activation = try node.activation(options.activation)
    let elements: Pooling.Elements
    switch input.type {
    case .float32:
      let bounds = activation.bounds ?? (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
      elements = .float32(minimum: bounds.minimum, maximum: bounds.maximum)
    case .uint8, .int8, .int16:
      let bounds = try node.quantizedBounds(activation, of: output)
      let kind: ScalarType = input.type == .uint8 ? .uint8 : input.type == .int8 ? .int8 : .int16
      elements = .integer(kind, minimum: bounds.minimum, maximum: bounds.maximum)
    default:
      throw node.unsupported("\(input.type) is not supported")
    }
    guard
      let pooling = Pooling(
        kind: kind, elements: elements, batches: input.shape[0], vertical: vertical, horizontal: horizontal,
        channels: input.shape[3], using: node.kernels)
    else {
      throw node.malformed(
        "a window of \(filterHeight)×\(filterWidth) does not fit \(input.name), \(input.shape)")
    }
    self.pooling = pooling
    let byteCount = pooling.scratchByteCount(threads: node.threadCount)
    scratch = byteCount > 0 ? try node.scratch(byteCount: byteCount) : nil
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    guard let scratch else {
      return pooling.run(tensors.readBytes(input), to: &result, threads: tensors.threads)
    }
    var memory = tensors.writeBytes(scratch)
    pooling.run(tensors.readBytes(input), to: &result, scratch: &memory, threads: tensors.threads)
  }

  var implementation: Implementation { Implementation(text: pooling.implementation, choice: pooling.choice) }
}
