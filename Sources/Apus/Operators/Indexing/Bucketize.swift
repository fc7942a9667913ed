// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `BUCKETIZE`: for each value, the number of the options' sorted boundaries that are not above it.
struct Bucketize: Operator {
  private let input: TensorSlot
  private let output: TensorSlot
  private let boundaries: [Float]

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, types: [.float32, .float64, .int32, .int64])
    let boundaries = try node.options.bucketize.boundaries
    guard zip(boundaries, boundaries.dropFirst()).allSatisfy({ $0 <= $1 }) else {
      throw node.malformed("the boundaries are not sorted")
    }
    try node.keep(tablesOf: boundaries.count, entryByteCount: 4)
    return Bucketize(
      input: input, output: try node.output(0, shape: input.shape, types: [.int32]), boundaries: boundaries)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.write(output, as: Int32.self)
    let limits = boundaries.span
    switch input.type {
    case .float32:
      countBoundaries(tensors.read(input, as: Float.self), limits, to: &result, threads: tensors.threads)
    case .float64:
      countBoundaries(tensors.read(input, as: Double.self), limits, to: &result, threads: tensors.threads)
    case .int32:
      countBoundaries(tensors.read(input, as: Int32.self), limits, to: &result, threads: tensors.threads)
    default:
      countBoundaries(tensors.read(input, as: Int64.self), limits, to: &result, threads: tensors.threads)
    }
  }
}
