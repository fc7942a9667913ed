// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A table of tensors that folded operators borrow in turn: it has an entry per tensor of the subgraph, and
/// models that fold constants often do so a hundred times.
final class SpareTables: Sendable {
  private struct Spare: @unchecked Sendable {
    // @unchecked: the table has one owner at a time.
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

  /// Returns a table after clearing its entries.
  func giveBack(_ table: TensorBuffers) {
    let given = Spare(table: table)
    spare.withLock { $0 = given }
  }
}
