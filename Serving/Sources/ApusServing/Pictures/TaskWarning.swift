// SPDX-License-Identifier: Apache-2.0
import ApusVision
import Synchronization

/// What is suspicious about a model, or about the settings with which a task reads it.
public struct TaskWarning: Hashable, Sendable {
  /// The model's name.
  public let model: String
  /// The model's version.
  public let version: String
  /// The task.
  public let task: VisionTaskKind
  /// What is suspicious, and what may follow from it.
  public let text: String
}

/// The warnings that were said of a model, so that each is said once.
struct SaidWarnings: ~Copyable {
  private struct Key: Hashable {
    let task: VisionTaskKind
    let text: String
  }

  private let said = Mutex<Set<Key>>([])

  /// The maximum number of warnings of a model: clients choose the settings.
  private static let maximumCount = 64

  /// The texts that were not said yet. They count as said from now on.
  func new(_ texts: [String], of task: VisionTaskKind) -> [String] {
    guard !texts.isEmpty else { return [] }
    return said.withLock { said in
      texts.filter { said.count < Self.maximumCount && said.insert(Key(task: task, text: $0)).inserted }
    }
  }
}
