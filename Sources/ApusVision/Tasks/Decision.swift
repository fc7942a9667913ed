// SPDX-License-Identifier: Apache-2.0
import Apus
import Synchronization

/// A reading that nothing in the file may decide: the first answer that tells decides it for the model, and no later
/// answer changes it.
final class Decision<Value: RawRepresentable & Hashable & Sendable>: Sendable where Value.RawValue == String {
  private let usual: Value
  private let reading: Assumption
  private let shownReason: String
  private let settled = Mutex<Value?>(nil)

  /// A reading with what it means; one that is given, or that the model itself decides, is never open.
  ///
  /// - Parameter shownReason: Why answers can decide on another value.
  init(
    _ value: Value, _ reading: Assumption, shownReason: String = "no other reading fits the answers"
  ) {
    usual = value
    self.reading = reading
    self.shownReason = shownReason
  }

  /// Whether the caller or the model itself decides, so that answers never do.
  var isCertain: Bool { reading.source == .given || reading.source == .model }

  /// The value decided so far, or else the usual one.
  var value: Value { settled.withLock { $0 } ?? usual }

  /// Whether an answer can still decide.
  var isOpen: Bool { !isCertain && settled.withLock { $0 == nil } }

  /// Takes what an answer shows, and returns what holds for the model.
  ///
  /// - Throws: `invalidData` if earlier answers showed another value.
  func settle(_ shown: Value) throws(ApusError) -> Value {
    if isCertain { return usual }
    let holds = settled.withLock { settled in
      if settled == nil { settled = shown }
      return settled ?? shown
    }
    guard holds == shown else {
      throw ApusError(
        .invalidData,
        "earlier answers show that the \(reading.subject) of the model are \(holds.rawValue), this one that they are "
          + shown.rawValue + (reading.option.map { "; \($0) decides" } ?? ""))
    }
    return holds
  }

  /// Takes the scores of all candidates of an answer, and returns what the model's scores are. Most candidates are nothing, so that
  /// logits of some are negative: scores that all lie from 0 to 1 are probabilities.
  func settle(byCandidates scores: [Float]) throws(ApusError) -> Value where Value == ScoreForm {
    guard isOpen, scores.count >= Self.minimumCandidates else { return value }
    return try settle(scores.allSatisfy { $0 >= 0 && $0 <= 1 } ? .probability : .logit)
  }

  /// How many candidates tell.
  private static var minimumCandidates: Int { 16 }

  /// The reading as decided so far.
  var assumption: Assumption {
    let value = value
    guard value != usual else { return reading }
    return Assumption(
      reading.subject, value.rawValue, .guess, reason: shownReason, option: reading.option)
  }

  /// A warning if an answer contradicted the reading; nil otherwise.
  var warning: String? {
    let value = value
    guard value != usual else { return nil }
    return
      "the \(reading.subject) are \(value.rawValue): the answers cannot be \(usual.rawValue) (\(reading.reason))"
      + (reading.option.map { "; \($0) \(value.rawValue) says so from the start" } ?? "")
  }
}
