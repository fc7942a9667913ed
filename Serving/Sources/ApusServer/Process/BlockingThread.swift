// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Threads for what may block: each call has one of its own. Calls are rare.
enum BlockingThread {
  static func run(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.stackSize = 8 << 20
    thread.start()
  }
}
