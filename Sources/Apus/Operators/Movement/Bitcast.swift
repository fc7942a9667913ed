// SPDX-License-Identifier: Apache-2.0

/// `BITCAST`: the same bytes as elements of another type; the last dimension takes up the difference in
/// width.
enum Bitcast {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0)
    let type = try node.outputType(0)
    guard let from = input.type.byteCount, let to = type.byteCount, !input.type.isPacked,
      !type.isPacked
    else { throw node.unsupported("\(input.type) as \(type) is not supported") }
    var dimensions = input.shape.dimensions
    if from > to {
      dimensions.append(from / to)
    } else if from < to {
      guard dimensions.last == to / from else {
        throw node.malformed("the last dimension of \(input.name), \(input.shape), is not \(to / from)")
      }
      dimensions.removeLast()
    }
    let output = try node.output(0, shape: TensorShape(dimensions))
    return DataMovement(filling: (output, .tensor(input)), [])
  }
}
