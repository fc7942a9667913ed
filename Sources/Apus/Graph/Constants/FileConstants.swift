// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The constants of a file, by subgraph and tensor. Immutable.
struct FileConstants: Sendable {
  private let values: [Constant]
  /// For each tensor of the file: the position of its value, or −1.
  private let positions: [Int]
  /// For each subgraph: where its tensors begin.
  private let firstTensors: [Int]

  /// Finds the bytes of all constants, see ``ConstantExpansion``.
  init(_ file: ModelFile) throws(ApusError) {
    var expansion = ConstantExpansion(file)
    var values: [Constant] = []
    var (positions, firstTensors): ([Int], [Int]) = ([], [])
    positions.reserveCapacity(file.subgraphs.reduce(0) { $0 + $1.tensors.count })
    // By index, because an iterator would first create the type of its array at run time.
    for subgraph in file.subgraphs.indices {
      firstTensors.append(positions.count)
      for tensor in file.subgraphs[subgraph].tensors {
        let constant = try expansion.constant(of: tensor)
        positions.append(constant == nil ? -1 : values.count)
        if let constant { values.append(constant) }
      }
    }
    (self.values, self.positions, self.firstTensors) = (values, positions, firstTensors)
  }

  /// A tensor's values; nil if the file has none.
  subscript(subgraph: Int, tensor: Int) -> Constant? {
    let position = positions[firstTensors[subgraph] + tensor]
    return position < 0 ? nil : values[position]
  }
}
