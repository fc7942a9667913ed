// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// An operator that copies, for each coordinate of its output, the input's element that a table per axis
/// names.
struct IndexedMovement: Operator {
  private let input: TensorSlot
  private let output: TensorSlot
  private let copy: IndexedCopy

  /// Counts tables with these numbers of entries towards the memory limit, before they are created.
  static func keepTables(_ counts: [Int], _ node: Node) throws(ApusError) {
    // An entry, and its offset in bytes.
    try node.keep(
      tablesOf: counts.reduce(0) { $0.addingClamped($1) }, entryByteCount: 2 * MemoryLayout<Int>.stride)
  }

  /// `tables[axis][i]` is the input's coordinate; axes without a table are copied whole. Neither tensor is
  /// empty.
  init(_ tables: [[Int]], from input: TensorSlot, to output: TensorSlot, _ node: Node) throws(ApusError) {
    self.input = input
    self.output = output
    let width = input.type.byteCount ?? 1
    let strides = input.shape.strides
    let run = input.shape.elementCount(in: tables.count..<input.shape.rank) * width
    guard
      let copy = IndexedCopy(tables: tables, strides: tables.indices.map { strides[$0] * width }, run: run)
    else {
      throw node.malformed("cannot make \(output.shape) of \(input.name), \(input.shape)")
    }
    self.copy = copy
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var destination = tensors.writeBytes(output)
    copy.run(tensors.readBytes(input), to: &destination, threads: tensors.threads)
  }
}
