// SPDX-License-Identifier: Apache-2.0

/// What a client may choose when it has a model loaded: the maximum batch.
///
/// The model itself comes from the repository; files of the client's are refused.
public struct LoadSettings: Sendable {
  /// The maximum batch; nil for the server's.
  public private(set) var maximumBatch: Int?

  /// Makes the server's own settings.
  public init() {}

  /// Reads the parameters of a load request: `config`, a model configuration as JSON.
  public init(_ parameters: RequestParameters, ofModel name: String) throws(ServingError) {
    do throws(ServingError) {
      for (key, value) in parameters.sorted(by: { $0.key < $1.key }) where key != "unload_dependents" {
        guard key == "config" else {
          throw .bad(
            "failed to poll from model repository: the parameter '\(key)' is not supported, models come from "
              + "the repository alone")
        }
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
        guard let number, (1...1_024).contains(number) else {
          throw .bad("max_batch_size is not a whole number from 1 to 1024")
        }
        maximumBatch = number
      default: throw .bad("the configuration's '\(key)' cannot be changed, only max_batch_size")
      }
    }
  }
}
