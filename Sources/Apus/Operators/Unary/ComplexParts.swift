// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `REAL`, `IMAG` and `COMPLEX_ABS`: a real number for each complex one.
enum ComplexParts {
  /// The preparation of an operator that applies `function`.
  static func prepare(
    _ function: ComplexFunction
  ) -> @Sendable (Node) throws(ApusError) -> any Operator {
    { (node: Node) throws(ApusError) -> any Operator in
      try node.expect(inputs: 1...1)
      let input = try node.input(0, types: [.complex64, .complex128])
      let isSingle = input.type == .complex64
      let output = try node.output(0, shape: input.shape, types: [isSingle ? .float32 : .float64])
      let count = input.shape.elementCount
      return UnaryOperator(
        isSingle ? function.floats(count: count) : function.doubles(count: count), choice: .plain,
        input: input, output: output)
    }
  }
}
