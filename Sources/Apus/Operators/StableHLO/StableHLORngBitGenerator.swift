// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `STABLEHLO_RNG_BIT_GENERATOR`: random bits and the next state, both functions of a state.
struct StableHLORngBitGenerator: Operator {
  private let state: TensorSlot
  private let nextState: TensorSlot
  private let output: TensorSlot
  private let bits: RandomBits

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1, outputs: 2...2)
    let state = try node.input(0, types: [.uint64], rank: 1)
    let bits: RandomBits
    switch try node.options.stablehloRngBitGenerator.algorithm {
    case 0, 1: bits = .philox
    case 2: bits = .threefry
    case let other: throw node.malformed("the algorithm \(other) is unknown")
    }
    guard state.shape[0] == 2 || state.shape[0] == 3 && bits == .philox else {
      throw node.malformed("a state of \(state.shape[0]) numbers does not fit the algorithm")
    }
    let shape = try node.declaredOutputShape(1)
    return StableHLORngBitGenerator(
      state: state, nextState: try node.output(0, shape: state.shape, like: state),
      output: try node.output(1, shape: TensorShape(shape), types: [.int32, .uint32, .int64, .uint64]),
      bits: bits)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var next = tensors.writeBytes(nextState)
    bits.fill(&result, state: tensors.readBytes(state), nextState: &next, threads: tensors.threads)
  }
}
