// SPDX-License-Identifier: Apache-2.0

/// The folded constants of a subgraph, for all interpreters of a model.
struct FoldedConstants: Sendable {
  /// The position of the subgraph.
  let subgraph: Int
  private var values: [Constant] = []
  /// For each tensor: the position of its value, or −1.
  private var positions: [Int]

  /// Creates an empty set.
  init(_ wiring: Wiring) {
    subgraph = wiring.index
    positions = Array(repeating: -1, count: wiring.tensorCount)
  }

  /// The values of tensors; nil if one is not known.
  func constants(_ tensors: [Int]) -> [Constant]? {
    var found: [Constant] = []
    found.reserveCapacity(tensors.count)
    for tensor in tensors {
      guard positions[tensor] >= 0 else { return nil }
      found.append(values[positions[tensor]])
    }
    return found
  }

  /// Adds the values of tensors.
  mutating func add(_ constants: [Constant], _ tensors: [Int]) {
    for (tensor, constant) in zip(tensors, constants) {
      if positions[tensor] >= 0 {
        values[positions[tensor]] = constant
      } else {
        positions[tensor] = values.count
        values.append(constant)
      }
    }
  }
}
