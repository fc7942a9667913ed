// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Synchronization

/// Memory that a request takes from the limit of all requests. It is given back with the last reference to this object.
final class HeldMemory: Sendable {
  private let taken = Atomic(0)
  private let admission: Admission

  /// Takes nothing yet.
  init(_ admission: Admission) { self.admission = admission }

  deinit { admission.release(taken.load(ordering: .relaxed)) }

  /// Takes more.
  ///
  /// - Throws: `unavailable` if others hold too much.
  func take(_ bytes: Int) throws(ServingError) {
    try admission.take(bytes)
    taken.add(bytes, ordering: .relaxed)
  }
}
