// SPDX-License-Identifier: Apache-2.0
import ApusServing

/// Memory that one connection or call takes from the limit of all requests, and gives back in parts.
struct TakenMemory: ~Copyable {
  private let admission: Admission
  /// The number of bytes that are taken.
  private(set) var count = 0

  /// Takes nothing yet.
  init(_ admission: Admission) { self.admission = admission }

  deinit { admission.release(count) }

  /// Takes more.
  ///
  /// - Throws: `unavailable` if others hold too much.
  mutating func take(_ bytes: Int) throws(ServingError) {
    try admission.take(bytes)
    count += bytes
  }

  /// Gives a part back.
  mutating func release(_ bytes: Int) {
    count -= bytes
    admission.release(bytes)
  }

  /// Takes more, or gives a part back, so that `bytes` bytes are taken.
  ///
  /// - Throws: `unavailable` if others hold too much.
  mutating func change(to bytes: Int) throws(ServingError) {
    if bytes > count { try take(bytes - count) } else if bytes < count { release(count - bytes) }
  }
}
