// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Logging

extension Logger {
  /// Says what a task finds suspicious about a model or its settings.
  func warn(_ warning: TaskWarning) {
    self.warning(
      "task",
      metadata: [
        "model": "\(warning.model)", "version": "\(warning.version)", "task": "\(warning.task.rawValue)",
        "reason": "\(warning.text)",
      ])
  }
}
