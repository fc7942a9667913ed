// SPDX-License-Identifier: Apache-2.0
import Apus

/// The settings with which a client may have a model loaded: the maximum batch.
///
/// The model itself comes from the repository; files of the client's are refused.
public struct LoadSettings: Sendable {
  /// The maximum batch; nil for the server's.
  public private(set) var maximumBatch: Int?

  /// Makes the server's own settings.
  public init() {}

  /// Checks the parameters of an unload request: there are no ensembles, so that `unload_dependents` changes nothing.
  public static func checkUnload(_ parameters: RequestParameters, ofModel name: String) throws(ServingError) {
    if let key = parameters.keys.sorted().first(where: { $0 != "unload_dependents" }) {
      throw .bad("failed to unload '\(name)': the parameter '\(key)' is not supported")
    }
  }

  /// Checks the settings against the model that is loaded with them.
  func check(_ model: ServedModel) throws(ApusError) {
    guard let maximumBatch, (maximumBatch > 0) != model.batches else { return }
    throw ApusError(
      .invalidArgument,
      model.batches
        ? "max_batch_size is 0, but the model takes batches: it is 1 to 1024"
        : "max_batch_size is \(maximumBatch), but the model takes no batches: it is 0")
  }

  /// Reads the parameters of a load request: `config`, a model configuration as JSON.
  public init(_ parameters: RequestParameters, ofModel name: String) throws(ServingError) {
    do throws(ServingError) {
      // A configuration that comes with files is for them: that they are refused is what the client must hear.
      if let key = parameters.keys.sorted().first(where: { !["config", "unload_dependents"].contains($0) }) {
        throw .bad(
          "failed to poll from model repository: the parameter '\(key)' is not supported, models come from "
            + "the repository alone")
      }
      if let value = parameters["config"] {
        guard case .text(let text) = value else { throw .bad("the parameter 'config' is not a string") }
        try read(InferenceJSON.object(Array(text.utf8)), ofModel: name)
      }
    } catch { throw ServingError(error.kind, "failed to load '\(name)': \(error.message)") }
  }

  private mutating func read(
    _ configuration: RequestParameters, ofModel name: String
  ) throws(ServingError) {
    for (key, value) in configuration {
      switch (key, value) {
      case ("name", .text(let text)) where text == name: break
      case ("max_batch_size", _):
        let number: Int? = if case .text(let text) = value { Int(text) } else { value.integer }
        guard let number, (0...1_024).contains(number) else {
          throw .bad("max_batch_size is not a whole number from 0 to 1024")
        }
        maximumBatch = number
      default: throw .bad("the configuration's '\(key)' cannot be changed, only max_batch_size")
      }
    }
  }
}
