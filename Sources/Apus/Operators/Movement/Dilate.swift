// SPDX-License-Identifier: Apache-2.0

/// `DILATE`: elements with a given value between them along each axis.
enum Dilate {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let input = try node.input(0, ranks: 1...8)
    let steps = try node.integers(of: node.input(1, types: [.int32], rank: 1))
    let value = try node.input(2, types: [input.type])
    guard steps.count == input.shape.rank, steps.allSatisfy({ $0 >= 1 }), value.shape.elementCount == 1
    else {
      throw node.malformed("dilations of \(steps.brief) are not possible for \(input.name), \(input.shape)")
    }
    var dimensions: [Int] = []
    for (size, step) in zip(input.shape.dimensions, steps) {
      let (reach, overflow) = max(size - 1, 0).multipliedReportingOverflow(by: step)
      guard !overflow, reach < Int(Int32.max) else {
        throw node.malformed("\(size) elements \(step) apart are too many")
      }
      dimensions.append(size == 0 ? 0 : reach + 1)
    }
    let output = try node.output(0, shape: TensorShape(dimensions), like: input)
    return DataMovement(
      filling: (output, .element(value)),
      [
        try node.move(
          input.shape.dimensions, from: input, strides: input.shape.strides, to: output,
          strides: zip(output.shape.strides, steps).map { $0 &* $1 })
      ])
  }
}
