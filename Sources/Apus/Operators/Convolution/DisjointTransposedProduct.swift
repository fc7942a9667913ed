// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A transposed float convolution whose taps do not overlap: one product, whose rows become rectangles of
/// pixels.
struct DisjointTransposedProduct: UnpackedOperator {
  private var product: any Operator
  private let rectangles: TensorSlot
  private let output: TensorSlot
  /// Rows of pixels, and pixels of each row.
  private let rowCount: Int
  private let columnCount: Int
  /// Rows of one rectangle, and the bytes of each.
  private let height: Int
  private let lineByteCount: Int

  /// Nil if taps overlap or leave gaps, or if weights or bias are computed.
  init?(
    _ description: TransposedProduct.Description, vertical: TransposedAxis, horizontal: TransposedAxis,
    node: Node
  ) throws(ApusError) {
    let (input, filter, output) = (description.input, description.filter, description.output)
    guard case .float32 = description.operands, filter.type == .float32, filter.isConstant,
      description.bias?.isConstant ?? true, vertical.isDisjoint, horizontal.isDisjoint,
      input.shape.elementCount > 0, output.shape.elementCount > 0
    else { return nil }
    let arrangement = DisjointFilter(
      shape: filter.shape.dimensions, rows: vertical.phases.map { $0.taps[0] },
      columns: horizontal.phases.map { $0.taps[0] })
    let pixels = input.shape.elementCount / input.shape[3]
    let convolution = Convolution(
      rows: pixels, depth: input.shape[3], columns: arrangement.channelCount, operands: description.operands,
      epilogue: description.epilogue)
    rectangles = try node.scratch(byteCount: pixels * arrangement.channelCount * 4)
    product = try ProductDraft(
      convolution, input: input, filter: filter, bias: description.bias,
      output: rectangles, arrangement: arrangement, biasCopies: arrangement.rectangleCount,
      multiplyAccumulates: Double(pixels) * Double(filter.shape.elementCount), node: node
    ).product(for: node)
    self.output = output
    rowCount = input.shape[0] * input.shape[1]
    columnCount = input.shape[2]
    height = vertical.phases.count
    lineByteCount = horizontal.phases.count * output.shape[3] * 4
  }

  var implementation: Implementation {
    var implementation = product.implementation
    implementation.text = "one product, each pixel of which becomes a rectangle: \(implementation.text)"
    return implementation
  }

  var summation: String? { product.summation }

  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator {
    var copy = self
    copy.product = try product.unpacked?.packed(by: packer) ?? product
    return copy
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    try product.invoke(tensors)
    let source = tensors.readBytes(rectangles)
    var target = tensors.writeBytes(output)
    for row in 0..<rowCount {
      for line in 0..<height {
        ElementRuns.copy(
          from: source, at: (row &* columnCount &* height &+ line) &* lineByteCount,
          step: height &* lineByteCount, to: &target,
          at: (row &* height &+ line) &* columnCount &* lineByteCount, step: lineByteCount,
          byteCount: lineByteCount, count: columnCount)
      }
    }
  }
}

extension TransposedAxis {
  /// Whether each input makes outputs of its own, and all of them.
  fileprivate var isDisjoint: Bool {
    phases.count == stride && output == input * stride
      && phases.allSatisfy { $0.taps.count == 1 && $0.taps[0] >= 0 && $0.padding == 0 }
  }
}

/// All taps of an OHWI filter as output channels: by rows, columns, then the filter's own channels.
private struct DisjointFilter: FilterArrangement {
  /// Output channels, rows, columns and input channels of the filter.
  let shape: [Int]
  /// The rows and columns of the filter in the order of outputs.
  let rows: [Int]
  let columns: [Int]

  var rectangleCount: Int { rows.count * columns.count }
  var channelCount: Int { rectangleCount * shape[0] }
  var byteCount: Int { channelCount * shape[3] * 4 }
  var name: String { "all taps " + text(rows) + " " + text(columns) }

  /// Numbers as text; a description of the array would make the runtime search all conformances of the program.
  private func text(_ numbers: [Int]) -> String { numbers.map { String($0) }.joined(separator: ",") }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    let run = shape[3] * 4
    var place = 0
    for row in rows {
      for column in columns {
        let tap = (row * shape[2] + column) * run
        ElementRuns.copy(
          from: filter, at: tap, step: shape[1] * shape[2] * run, to: &arranged, at: place, step: run,
          byteCount: run, count: shape[0])
        place += shape[0] * run
      }
    }
  }
}
