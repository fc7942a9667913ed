import ApusKernels

/// `CONV_3D`: the products of windows of `N×D×H×W×C` floats with filters of `d×h×w×C×O`, plus a bias.
struct Conv3D: Operator {
  private let input: TensorSlot
  private let output: TensorSlot
  private let window: VolumeWindow
  private let kernel: any PreparedConvolution
  private let weights: ProductWeights
  private let linesPerBlock: Int
  private let gathered: TensorSlot
  private let scratch: TensorSlot

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...3)
    return try Conv3D(node)
  }

  private init(_ node: Node) throws(ApusError) {
    input = try node.input(0, types: [.float32], rank: 5)
    let filter = try node.input(1, types: [.float32], rank: 5)
    guard input.shape[4] == filter.shape[3], filter.shape.elementCount > 0,
      input.shape.dimensions.dropFirst().allSatisfy({ $0 > 0 })
    else { throw node.malformed("a filter of \(filter.shape) does not fit \(input.name), \(input.shape)") }
    let options = try VolumeOptions(node)
    var (places, padding) = ([Int](), [Int]())
    for axis in 0..<3 {
      let extent = try options.extent(
        axis, size: input.shape[axis + 1], filter: filter.shape[axis], node: node)
      places.append(extent.places)
      padding.append(extent.padding)
    }
    let channels = filter.shape[4]
    let bias = try node.bias(2, channels: channels, input: input)
    output = try node.output(0, shape: TensorShape([input.shape[0]] + places + [channels]), like: input)
    window = VolumeWindow(
      batches: input.shape[0], size: Array(input.shape.dimensions[1...3]), channels: input.shape[4],
      places: places,
      taps: Array(filter.shape.dimensions[0...2]), strides: options.strides, dilations: options.dilations,
      padding: padding)
    linesPerBlock = VolumeOptions.linesPerBlock(window, width: window.depth)
    let convolution = Convolution(
      rows: linesPerBlock * places[2], depth: window.depth, columns: channels, operands: .float32,
      epilogue: node.floatEpilogue(try node.activationOption(4)))
    guard let kernel = node.kernels.prepare(convolution) else { throw node.mismatch(input, filter) }
    self.kernel = kernel
    weights = try ProductWeights(
      kernel, filter: filter, bias: bias, arrangement: VolumeFilter(rows: window.depth, columns: channels),
      node: node)
    gathered = try node.scratch(
      byteCount: try options.byteCount([linesPerBlock, places[2], window.depth], node))
    scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    try node.declare(multiplyAccumulates: Double(output.shape.elementCount) * Double(window.depth))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    guard output.shape.elementCount > 0 else { return }
    weights.packIfNeeded(kernel, tensors)
    let blockByteCount = linesPerBlock &* window.places[2] &* output.shape[4] &* 4
    var line = 0
    while line < window.lineCount {
      var rows = tensors.writeBytes(gathered)
      window.gather(
        tensors.readBytes(input), lines: line..<line &+ linesPerBlock, to: &rows, threads: tensors.threads)
      let start = line / linesPerBlock &* blockByteCount
      var result = tensors.writeBytes(output, in: start..<start &+ blockByteCount)
      var scratch = tensors.writeBytes(scratch)
      kernel.run(
        weights.packed, input: rows.bytes, output: &result, scratch: &scratch, threads: tensors.threads)
      line &+= linesPerBlock
    }
  }
}

/// A filter of `rows × columns`, transposed.
private struct VolumeFilter: FilterArrangement {
  let rows: Int
  let columns: Int

  var byteCount: Int { rows * columns * 4 }
  var name: String { "\(rows)×\(columns) transposed" }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    ElementRuns.transpose(filter, rows: rows, columns: columns, count: 1, width: 4, into: &arranged)
  }
}

/// The options of CONV_3D and CONV_3D_TRANSPOSE; triples are depth, height, width.
struct VolumeOptions {
  let isSame: Bool
  let strides: [Int]
  let dilations: [Int]

  init(_ node: Node) throws(ApusError) {
    let padding = try node.int8Option(0, default: 0)
    guard padding == 0 || padding == 1 else { throw node.malformed("padding \(padding) is unknown") }
    isSame = padding == 0
    strides = [
      try node.int32Option(1, default: 0), try node.int32Option(3, default: 0),
      try node.int32Option(2, default: 0),
    ]
    dilations = [
      try node.int32Option(5, default: 1), try node.int32Option(7, default: 1),
      try node.int32Option(6, default: 1),
    ]
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

  /// How many lines of places are worked on at once: a divisor of their number, with about 2¹⁷ floats of `width` for
  /// each place.
  static func linesPerBlock(_ window: VolumeWindow, width: Int) -> Int {
    let perLine = Double(max(1, window.places[2])) * Double(max(1, width))
    var lines = max(1, min(window.lineCount, Int(131_072 / perLine)))
    while window.lineCount % lines != 0 { lines -= 1 }
    return lines
  }
}
