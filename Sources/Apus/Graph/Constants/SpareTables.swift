// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A table of tensors that operators on constants borrow in turn: it is as long as the subgraph has tensors, and most models that
/// fold constants do so a hundred times.
final class SpareTables: Sendable {
  private struct Spare: @unchecked Sendable {
    // @unchecked: whoever takes the table is its only owner.
    var table: TensorBuffers?
  }

  private let spare = Mutex(Spare())

  /// A table without tensors; the caller is its only owner.
  func take(capacity: Int) -> TensorBuffers {
    let taken = spare.withLock { spare in
      defer { spare = Spare() }
      return spare
    }
    if let table = taken.table, table.capacity >= capacity { return table }
    return TensorBuffers(capacity: capacity)
  }

  /// Takes back a table, whose entries are none again.
  func giveBack(_ table: TensorBuffers) {
    let given = Spare(table: table)
    spare.withLock { $0 = given }
  }
}
