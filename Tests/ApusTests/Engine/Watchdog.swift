// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Synchronization

/// Cancels runs that take too long, on a thread of its own: tests that loop may hold every thread of the pools.
enum Watchdog {
  private typealias Watched = [ObjectIdentifier: (flag: Cancellation, end: Date)]

  private static let watched = Mutex<Watched>([:])

  private static let start: Void = Thread.detachNewThread {
    while true {
      Thread.sleep(forTimeInterval: 0.02)
      watched.withLock { watched in
        for (flag, end) in watched.values where end < Date() { flag.cancel() }
      }
    }
  }

  /// Calls `body` with a flag that is set after `seconds`.
  static func limit<R, E: Error>(seconds: Double, _ body: (Cancellation) throws(E) -> R) throws(E) -> R {
    _ = start
    let flag = Cancellation()
    watched.withLock { $0[ObjectIdentifier(flag)] = (flag, Date(timeIntervalSinceNow: seconds)) }
    defer { watched.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(flag)) } }
    return try body(flag)
  }
}
