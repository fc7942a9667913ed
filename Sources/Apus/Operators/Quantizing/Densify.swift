// SPDX-License-Identifier: Apache-2.0

/// `DENSIFY`: a sparse constant with its zeros. Constants are dense already when they are read.
enum Densify {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.float32, .float16, .int8])
    guard node.isSparse(0) else { throw node.malformed("\(input.name) is not a sparse constant") }
    return try node.view(0, of: input, shape: input.shape)
  }
}
