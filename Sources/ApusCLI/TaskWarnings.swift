// SPDX-License-Identifier: Apache-2.0
import ApusConsole
import Synchronization

/// Says on standard error what is suspicious about a task, each warning once: some are known only after an answer.
final class TaskWarnings: Sendable {
  private let warnings: @Sendable () -> [String]
  private let written = Mutex<Set<String>>([])

  /// - Parameter warnings: What is suspicious so far.
  init(_ warnings: @escaping @Sendable () -> [String]) { self.warnings = warnings }

  /// Writes the warnings that are new.
  func write() {
    written.withLock { written in
      for warning in warnings() where written.insert(warning).inserted {
        Output.writeError("warning: " + oneLine(warning))
      }
    }
  }
}
