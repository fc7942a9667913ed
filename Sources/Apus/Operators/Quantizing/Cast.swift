// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `CAST`: values of one type as those of another.
enum Cast {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0)
    if try node.outputType(0) == input.type, !input.type.isPacked {
      return try node.view(0, of: input, shape: input.shape)
    }
    let output = try node.output(0, shape: input.shape)
    let count = input.shape.elementCount
    // Integers of less than a byte are cast only from and to floats.
    if output.type.isPacked, input.type == .float32 {
      let range = output.type.integerRange
      let kernel = CastKernel.packed(
        minimum: Float(range.lowerBound), maximum: Float(range.upperBound), count: count)
      return UnaryOperator(kernel, choice: .plain, input: input, output: output)
    }
    guard let source = input.type.castType, let target = output.type.castType,
      !input.type.isPacked || output.type == .float32, !output.type.isPacked
    else { throw node.unsupported("from \(input.type) to \(output.type) is not supported") }
    let (kernel, choice) = CastKernel.choose(from: source, to: target, count: count, using: node.kernels)
    return UnaryOperator(kernel, choice: choice, input: input, output: output)
  }
}

extension ElementType {
  /// The type that casts read or write: integers of less than a byte are in bytes by then.
  var castType: ScalarType? {
    guard isPacked else { return scalarType(in: .castable) }
    return isSignedInteger ? .int8 : .uint8
  }
}
