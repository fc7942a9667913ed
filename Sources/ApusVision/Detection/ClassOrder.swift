// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Which of two rows of numbers are classes, and which scores: the first answer that tells decides it for the model.
final class ClassOrder: Sendable {
  private let isAmbiguous: Bool
  private let settled = Mutex<Bool?>(nil)

  /// The order of outputs that only their values tell apart, or of others, whose order is known.
  init(isAmbiguous: Bool) { self.isAmbiguous = isAmbiguous }

  /// Whether an answer can still decide.
  var isOpen: Bool { isAmbiguous && settled.withLock { $0 == nil } }

  /// Whether an answer showed that the rows change places; nil if none has told.
  var shown: Bool? { settled.withLock(\.self) }

  /// Whether the rows change places: they do if only that makes classes of the whole numbers and scores of the fractions up
  /// to 1.
  func isExchanged(classes: ArraySlice<Float>, scores: ArraySlice<Float>) -> Bool {
    guard isAmbiguous else { return false }
    return settled.withLock { settled in
      if let settled { return settled }
      let asGiven = Self.looksLikeClasses(classes) || Self.looksLikeScores(scores)
      let exchanged = Self.looksLikeClasses(scores) || Self.looksLikeScores(classes)
      guard asGiven != exchanged else { return false }
      settled = exchanged
      return exchanged
    }
  }

  private static func looksLikeClasses(_ values: ArraySlice<Float>) -> Bool { values.contains { $0 > 1 } }

  private static func looksLikeScores(_ values: ArraySlice<Float>) -> Bool {
    values.contains { $0 != $0.rounded() }
  }
}
