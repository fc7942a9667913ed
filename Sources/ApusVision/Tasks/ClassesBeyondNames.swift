// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The classes of answers that no name is for, or whose row says that there is none: they warn that the names are those of another model.
final class ClassesBeyondNames: Sendable {
  private let greatest = Mutex<Int?>(nil)
  private let nameless = Mutex<Int?>(nil)

  /// Takes a class of an answer.
  func add(_ index: Int, _ names: LabelSource?) {
    guard let names else { return }
    if !names.hasRow(ofClass: index) {
      greatest.withLock { $0 = max($0 ?? index, index) }
    } else if names.isPlaceholder(ofClass: index) {
      nameless.withLock { $0 = min($0 ?? index, index) }
    }
  }

  /// Warnings about the names after the answers so far; usually empty.
  func warnings(_ names: LabelSource?) -> [String] {
    guard let names else { return [] }
    if let index = greatest.withLock({ $0 }) {
      return ["an answer has class \(index), but \(names.count): names may be those of other classes"]
    }
    return nameless.withLock { $0 }.map { index in
      ["an answer has class \(index), for which the labels have '???': names may be those of other classes"]
    } ?? []
  }
}
