// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `EMBEDDING_LOOKUP_SPARSE`: weighted sums of a table's rows, one for each row of a sparse tensor.
///
/// Inputs: table rows `N`; their coordinates `N×R`; the sparse tensor's shape `R`; weights `N`; the
/// table. Sums run over the last of the `R` axes.
struct EmbeddingLookupSparse: Operator {
  private let ids: TensorSlot
  private let indices: TensorSlot
  private let weights: TensorSlot
  private let table: TensorSlot
  private let output: TensorSlot
  private let kernel: EmbeddingSums
  private let place: String

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try EmbeddingLookupSparse(node)
  }

  private init(_ node: Node) throws(ApusError) {
    try node.expect(inputs: 5...5)
    ids = try node.input(0, types: [.int32], rank: 1)
    indices = try node.input(1, types: [.int32], rank: 2)
    let shape = try node.input(2, types: [.int32], rank: 1)
    weights = try node.input(3, types: [.float32], rank: 1)
    table = try node.input(4, types: [.float32], ranks: 2...8)
    let count = ids.shape[0]
    guard indices.shape[0] == count, weights.shape[0] == count, indices.shape[1] == shape.shape[0],
      shape.shape[0] > 0
    else {
      throw node.malformed(
        "\(ids.shape) rows, \(indices.shape) places in \(shape.shape) axes and \(weights.shape) weights do not fit"
      )
    }
    let combiner: EmbeddingSums.Combiner
    switch try node.options.embeddingLookupSparse.combiner {
    case 0: combiner = .sum
    case 1: combiner = .mean
    case 2: combiner = .squareRoot
    case let other: throw node.malformed("the combiner \(other) is unknown")
    }
    let sizes = Array(try node.integers(of: shape).dropLast())
    let width = table.shape.dimensions.dropFirst()
    output = try node.output(0, shape: TensorShape(sizes + width), types: [.float32])
    try node.requireCountable(sizes)
    try node.check(
      plainWork: Double(count)
        * Double(table.shape.elementCount(in: 1..<table.shape.rank) / 4 + sizes.count + 8))
    kernel = EmbeddingSums(
      sizes: sizes, tableRows: table.shape[0], width: table.shape.elementCount(in: 1..<table.shape.rank),
      combiner: combiner)
    place = node.place
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    var result = tensors.write(output, as: Float.self)
    let failure = kernel.run(
      ids: tensors.read(ids), indices: tensors.read(indices), weights: tensors.read(weights),
      table: tensors.read(table), to: &result, threads: tensors.threads)
    switch failure {
    case .row(let lookup):
      throw ApusError(
        .invalidData, "\(place): row \(lookup) of \(ids.name) is not in the table, \(table.shape)")
    case .place(let lookup):
      throw ApusError(
        .invalidData, "\(place): row \(lookup) of \(indices.name) names a place outside \(output.shape)")
    case nil: return
    }
  }
}
