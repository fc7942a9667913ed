// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The classes of answers that no name is for: they warn that the names are those of another model.
final class ClassesBeyondNames: Sendable {
  private let greatest = Mutex<Int?>(nil)

  /// Takes a class of an answer.
  func add(_ index: Int, _ names: LabelSource?) {
    guard let names, !names.hasRow(ofClass: index) else { return }
    greatest.withLock { $0 = max($0 ?? index, index) }
  }

  /// Warnings about the names after the answers so far; usually empty.
  func warnings(_ names: LabelSource?) -> [String] {
    guard let names, let index = greatest.withLock({ $0 }) else { return [] }
    return ["an answer has class \(index), but \(names.count): names may be those of other classes"]
  }
}
