// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `HASHTABLE_LOOKUP`: rows of a table by sorted keys, zeros for missing ones; and which were found.
struct HashtableLookup: Operator {
  private let wanted: TensorSlot
  private let keys: TensorSlot
  private let values: TensorSlot
  private let output: TensorSlot
  private let hits: TensorSlot
  private let kernel: KeyedRows

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3, outputs: 2...2)
    let wanted = try node.input(0, types: [.int32], rank: 1)
    let keys = try node.input(1, types: [.int32], rank: 1)
    let values = try node.input(2, ranks: 1...8)
    guard let width = values.type.byteCount else {
      throw node.unsupported("\(values.name) is \(values.type), which is not supported")
    }
    let rows = values.shape[0]
    guard rows == keys.shape[0], rows > 0 else {
      throw node.malformed("\(keys.shape) keys for values of \(values.shape)")
    }
    let shape = TensorShape([wanted.shape[0]] + values.shape.dimensions.dropFirst())
    return HashtableLookup(
      wanted: wanted, keys: keys, values: values, output: try node.output(0, shape: shape, like: values),
      hits: try node.output(1, shape: wanted.shape, types: [.uint8]),
      kernel: KeyedRows(
        count: rows, rowByteCount: values.shape.elementCount(in: 1..<values.shape.rank) * width))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var hits = tensors.write(hits, as: UInt8.self)
    kernel.look(
      up: tensors.read(wanted), in: tensors.read(keys), tensors.readBytes(values), to: &result, hits: &hits,
      threads: tensors.threads)
  }
}
