// SPDX-License-Identifier: Apache-2.0

#if LocalizedErrors
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif
#endif

/// Why a model, an argument, a picture or a label file was refused.
///
/// Branch on ``code``; show ``message`` to people. A message names the place, what was found there and what
/// was expected.
///
/// ```swift
/// do throws(ApusError) {
///   let interpreter = try Interpreter(model: Model(contentsOfFile: "detect.tflite"))
/// } catch {
///   if error.code == .unsupportedOperator { showToUser(error.reasons) }
/// }
/// ```
public struct ApusError: Error, Hashable, Sendable {
  /// The kind of a failure: an open set, so that new kinds do not break callers.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's stable name.
    public let rawValue: String

    /// Makes a code from its stable name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A file could not be opened or read.
    public static let unreadableFile = Code(rawValue: "unreadableFile")
    /// The bytes are not a well-formed model, or violate a rule of the format or of an operator.
    public static let malformedModel = Code(rawValue: "malformedModel")
    /// The model is well-formed, but uses an operator, version, type or feature that this build cannot run.
    public static let unsupportedOperator = Code(rawValue: "unsupportedOperator")
    /// An argument of a call is wrong: an index, a name, a shape, a count or an option.
    public static let invalidArgument = Code(rawValue: "invalidArgument")
    /// A tensor's data, known only while running, violates an operator's rule.
    public static let invalidData = Code(rawValue: "invalidData")
    /// A limit on size, memory, work or time is exceeded, or the system refuses memory.
    public static let resourceLimit = Code(rawValue: "resourceLimit")
    /// A ``Cancellation`` stopped the run, or its deadline passed. Outputs are then undefined; inputs keep their values.
    public static let cancelled = Code(rawValue: "cancelled")
    /// A picture's bytes are damaged, or its dimensions are impossible.
    public static let malformedImage = Code(rawValue: "malformedImage")
    /// A picture is of a kind that this build does not read or write.
    public static let unsupportedImage = Code(rawValue: "unsupportedImage")
    /// A label file or a model's metadata is damaged.
    public static let malformedLabels = Code(rawValue: "malformedLabels")
    /// A plan failed the engine's own check: a defect of Apus, not of the model. Please report it.
    public static let internalError = Code(rawValue: "internalError")
    /// Preparation needs a value that only a run computes; never leaves the engine.
    static let valueNotKnown = Code(rawValue: "valueNotKnown")
  }

  /// The kind of the failure.
  public let code: Code

  /// The place, what was found and what was expected; in lower case, with no full stop.
  public let message: String

  /// Every reason, one sentence each, if there can be several; otherwise just the message.
  public let reasons: [String]

  /// Makes an error; `reasons` defaults to the message alone.
  public init(_ code: Code, _ message: String, reasons: [String] = []) {
    self.code = code
    self.message = message
    self.reasons = reasons.isEmpty ? [message] : reasons
  }
}

extension ApusError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

#if LocalizedErrors
  extension ApusError: LocalizedError {
    /// The message, which `localizedDescription` returns.
    public var errorDescription: String? { message }
  }
#endif
