// SPDX-License-Identifier: Apache-2.0
import ApusVision
import Synchronization

/// A warning about a model, or about the settings with which a task reads it.
public struct TaskWarning: Hashable, Sendable {
  /// The model's name.
  public let model: String
  /// The model's version.
  public let version: String
  /// The task.
  public let task: VisionTaskKind
  /// The cause for suspicion, and what may follow from it.
  public let text: String
}

/// The warnings that were said of a model, so that each is said once.
struct SaidWarnings: ~Copyable {
  private struct Key: Hashable {
    let task: VisionTaskKind
    let text: String
  }

  private let said = Mutex<Set<Key>>([])
  private let saidOfSettings = Mutex<Set<Key>>([])

  /// The maximum number of warnings of a model, and of those of clients' settings, which must not leave the others unsaid.
  private static let maximumCount = 64

  /// The texts that were not said yet. They count as said from now on.
  func new(_ texts: [String], of task: VisionTaskKind, isOfSettings: Bool) -> [String] {
    let keys = texts.map { Key(task: task, text: $0) }
    guard !keys.isEmpty else { return [] }
    let isSaid = said.withLock { said in
      keys.map {
        isOfSettings ? said.contains($0) : said.count >= Self.maximumCount || !said.insert($0).inserted
      }
    }
    let new = zip(keys, isSaid).filter { !$1 }.map(\.0)
    guard isOfSettings else { return new.map(\.text) }
    return saidOfSettings.withLock { said in
      new.filter { said.count < Self.maximumCount && said.insert($0).inserted }.map(\.text)
    }
  }
}
