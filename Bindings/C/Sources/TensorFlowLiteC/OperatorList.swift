// SPDX-License-Identifier: Apache-2.0

import Apus

/// The operators of a subgraph, as clients read them as long as their owner lives.
final class OperatorList: @unchecked Sendable {
  private let names: CStrings
  private let inputs: [UnsafeMutableRawPointer?], outputs: [UnsafeMutableRawPointer?]

  init(_ operators: [Model.Operator]) {
    names = CStrings(operators.map(\.name))
    inputs = operators.map { CArrays.make($0.inputs.map { Int32(clamping: $0 ?? -1) }) }
    outputs = operators.map { CArrays.make($0.outputs.map { Int32(clamping: $0) }) }
  }

  deinit { for array in inputs + outputs { CArrays.release(array) } }

  /// How many there are.
  var count: Int { names.count }

  /// The name of an operator and its two `TfLiteIntArray`; nil if there is none with that index, or no memory for it.
  func entry(_ index: Int32) -> (
    name: UnsafePointer<CChar>, inputs: UnsafeMutableRawPointer, outputs: UnsafeMutableRawPointer
  )? {
    guard let name = names.string(index), let inputs = inputs[Int(index)], let outputs = outputs[Int(index)]
    else { return nil }
    return (name, inputs, outputs)
  }
}
