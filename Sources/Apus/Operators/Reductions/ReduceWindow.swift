// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `STABLEHLO_REDUCE_WINDOW`: folds the elements under a window that moves over a tensor.
/// `REDUCE_WINDOW`: the same without padding, its sizes given by tensors.
///
/// The fold's body is a subgraph of one operator, which only names the function.
struct ReduceWindow: Operator {
  private let input: TensorSlot
  private let initial: TensorSlot
  private let output: TensorSlot
  private let kernel: WindowReduction

  /// The types that can be folded, as in the reference.
  static let types: [ElementType] = [
    .float32, .float64, .int8, .uint8, .int16, .int32, .int64, .bool,
  ]

  /// The subgraph that names the function of STABLEHLO_REDUCE_WINDOW.
  static func body(_ options: OperatorOptions) throws(ApusError) -> Int {
    try options.stablehloReduceWindow.bodySubgraph
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 5...5)
    let rank = try node.input(0).shape.rank
    func sizes(_ position: Int) throws(ApusError) -> [Int] {
      let slot = try node.input(position, types: [.int64], rank: 1)
      guard slot.shape[0] == rank else {
        throw node.malformed("\(slot.name) has \(slot.shape[0]) numbers, not \(rank)")
      }
      return try node.integers(of: slot)
    }
    let function = try node.options.reduceWindow.function
    let functions: [Int: ElementFold] = [
      1: .add, 2: .multiply, 3: .minimum, 4: .maximum, 5: .all, 6: .any,
    ]
    guard let fold = functions[function] else {
      throw node.unsupported("the function \(function) is unknown")
    }
    return try ReduceWindow(
      node, fold, window: sizes(2), strides: sizes(3), dilations: sizes(4),
      spreads: Array(repeating: 1, count: rank), padding: Array(repeating: 0, count: 2 * rank))
  }

  static func prepareStableHLO(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let rank = try node.input(0).shape.rank
    let options = node.options.stablehloReduceWindow
    let window = try options.window
    guard window.count == rank else {
      throw node.malformed("a window with \(window.count) axes does not fit a tensor with \(rank)")
    }
    func checked(
      _ numbers: [Int], _ name: String, default value: Int, count: Int
    ) throws(ApusError) -> [Int] {
      guard numbers.isEmpty || numbers.count == count else {
        throw node.malformed("options: \(name) has \(numbers.count) numbers, not \(count)")
      }
      return numbers.isEmpty ? Array(repeating: value, count: count) : numbers
    }
    let body = try options.bodySubgraph
    guard let fold = try node.fold(ofSubgraph: body), fold != .replace else {
      throw node.unsupported("subgraph \(body) is not a single function that can fold elements")
    }
    return try ReduceWindow(
      node, fold, window: window,
      strides: checked(options.strides, "window_strides", default: 1, count: rank),
      dilations: checked(options.windowDilations, "window_dilations", default: 1, count: rank),
      spreads: checked(options.baseDilations, "base_dilations", default: 1, count: rank),
      padding: checked(options.padding, "padding", default: 0, count: 2 * rank))
  }

  private init(
    _ node: Node, _ fold: ElementFold, window: [Int], strides: [Int], dilations: [Int], spreads: [Int],
    padding: [Int]
  ) throws(ApusError) {
    input = try node.input(0, ranks: 1...6)
    initial = try node.input(1, types: [input.type])
    guard initial.shape.elementCount > 0 else { throw node.malformed("\(initial.name) has no value") }
    guard let elements = input.type.scalarType(in: .foldable) else {
      throw node.unsupported("\(input.name) is \(input.type), which is not supported")
    }
    let limit = 1 << 31
    let sizes = input.shape.dimensions
    guard sizes.allSatisfy({ $0 < limit }) else { throw node.malformed("\(input.shape) is too large") }
    for number in window + strides + dilations + spreads where !(1..<limit).contains(number) {
      throw node.malformed("\(number) is not a size or step of a window")
    }
    for number in padding where abs(number.clamped(to: limit)) >= limit {
      throw node.malformed("a padding of \(number) is too large")
    }
    // No overflow: all numbers are below 2³¹.
    try node.requireCountable(sizes)
    var axes: [WindowAxis] = []
    var places: [Int] = []
    for axis in window.indices {
      let size = sizes[axis]
      let spread = size == 0 ? 0 : (size - 1) * spreads[axis] + 1
      let whole = spread + padding[2 * axis] + padding[2 * axis + 1]
      guard whole >= 0 else {
        throw node.malformed("axis \(axis) of \(input.name), \(input.shape), has no places left")
      }
      places.append(whole)
      let padded = WindowAxis(
        size: whole, taps: window[axis], stride: strides[axis], dilation: dilations[axis], isSame: false)
      axes.append(
        WindowAxis(
          size: size, places: max(padded.places, 0), taps: padded.taps, stride: padded.stride,
          dilation: padded.dilation, padding: padding[2 * axis]))
    }
    // No memory holds all positions, but a window may visit them over and over.
    guard TensorShape(places).elementCount <= node.context.elementLimit else {
      throw ApusError(
        .resourceLimit, "\(node.place): a window over \(TensorShape(places)) places takes too long")
    }
    output = try node.output(0, shape: TensorShape(axes.map(\.places)), like: input)
    kernel = WindowReduction(axes, spreads: spreads, fold, elements)
    let work = axes.reduce(1.0) { $0 * Double($1.places) * Double($1.taps) }
    try node.check(plainWork: work)
    try node.declare(multiplyAccumulates: work)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    kernel.run(
      tensors.readBytes(input), initial: tensors.readBytes(initial), to: &result, threads: tensors.threads)
  }
}

extension Int {
  /// The number, clamped to ±`limit`.
  fileprivate func clamped(to limit: Int) -> Int { Swift.min(Swift.max(self, -limit), limit) }
}

extension Node {
  /// The function of a subgraph's only operator; `replace` for a subgraph without operators.
  func fold(ofSubgraph index: Int) throws(ApusError) -> ElementFold? {
    let file = file
    guard file.subgraphs.indices.contains(index) else {
      throw malformed("names subgraph \(index), and there are \(file.subgraphs.count)")
    }
    let operators = file.subgraphs[index].operators
    guard operators.count <= 1 else { return nil }
    guard let entry = operators.first else { return .replace }
    switch file.operatorCodes[entry.operatorCode].code {
    case .add, .stablehloAdd: return .add
    case .mul, .stablehloMultiply: return .multiply
    case .maximum, .stablehloMaximum: return .maximum
    case .minimum, .stablehloMinimum: return .minimum
    case .logicalAnd, .stablehloAnd: return .all
    case .logicalOr, .stablehloOr: return .any
    default: return nil
    }
  }
}
