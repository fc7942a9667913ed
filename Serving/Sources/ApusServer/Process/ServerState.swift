// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import Logging
import NIOPosix

/// The state that both surfaces of a server share.
struct ServerState: Sendable {
  /// The name in metadata, unless the operator gives another, and that of the backend.
  static let name = "apus"
  /// The version in metadata.
  static let version = Runtime.version
  /// The extensions of the protocol that this server has.
  static let extensions = [
    "binary_tensor_data", "classification", "model_configuration", "model_repository",
    "model_repository(unload_dependents)", "schedule_policy", "statistics",
  ]

  /// The server's name in metadata.
  let identifier: String
  let repository: ModelRepository
  let scheduler: Scheduler
  let admission: Admission
  let tokens: AccessTokens
  /// Whether clients may load and unload models.
  let allowsLoading: Bool
  /// The most bytes of a body, after decompression too.
  let maximumBody: Int
  /// The models and faces of DeepStack's paths; nil where they are not served.
  var deepStack: DeepStack?
  /// The cameras that are looked at.
  var cameras: [LiveCamera] = []
  let logger: Logger

  /// Every model that the server knows; if clients may load models, those that came into the folders since the start, too.
  func index() async -> [ModelRepository.Entry] {
    if allowsLoading {
      let repository = repository
      _ = try? await NIOThreadPool.singleton.runIfActive { repository.lookForMore() }
    }
    return repository.entries
  }

  /// Whether a model that could not be loaded makes the server not ready.
  let isStrict: Bool

  /// Whether requests to models that are loaded would be answered.
  var takesRequests: Bool { !admission.isDraining }

  /// Whether the server is ready: it takes requests, and all models could be loaded. Models that clients unloaded do not count.
  var isReady: Bool { takesRequests && !(isStrict && repository.hasFailedModels) }

  /// The levels of the log that are written, by the names that Triton has for them.
  var logSettings: [(name: String, value: Bool)] {
    [
      ("log_error", logger.logLevel <= .error), ("log_info", logger.logLevel <= .info),
      ("log_warning", logger.logLevel <= .warning),
    ]
  }

  /// The error for a request that would change settings of the log.
  static let unchangeableLog = "log settings cannot be changed: use --log-level"
  /// The error for a request that would change settings of traces.
  static let unchangeableTraces = "trace settings cannot be changed: traces are not supported"

  /// The maximum text, in bytes, that an event loop reads or writes itself; more would keep other clients waiting.
  private static let briefText = 64 << 10

  /// Converts `bytes` bytes of text: on the event loop if they are few, on a thread that may block if they are many.
  static func converting<Value: Sendable>(
    _ bytes: Int, _ body: @escaping @Sendable () throws(ServingError) -> Value
  ) async throws(ServingError) -> Value {
    guard bytes > briefText else { return try body() }
    let result = try? await NIOThreadPool.singleton.runIfActive { () -> Result<Value, ServingError> in
      do throws(ServingError) { return .success(try body()) } catch { return .failure(error) }
    }
    guard let result else { throw ServingError(.cancelled, "the client went away") }
    return try result.get()
  }

  /// Runs one inference; failures are counted for the model.
  func infer(
    _ description: RequestDescription, on model: ServedModel, arrival: ContinuousClock.Instant,
    presence: Presence?
  ) async throws(ServingError) -> (InferenceRequest, InferenceAnswer) {
    do throws(ServingError) {
      let request = try model.check(description)
      let answer = try await EventLoopExecutor.returning { () async throws(ServingError) in
        try await scheduler.infer(request, on: model, arrival: arrival, presence: presence)
      }
      return (request, answer)
    } catch {
      model.statistics.recordFailure(error, ContinuousClock.now - arrival)
      throw error
    }
  }

  /// Loads a model, or loads it again.
  func load(_ name: String, _ settings: LoadSettings) async throws(ServingError) {
    try await change { [deepStack] repository throws(ServingError) in
      try repository.load(named: name, settings)
      deepStack?.checkNames(ofModel: name, in: repository)
    }
    logger.notice("model loaded", metadata: ["model": "\(name)"])
  }

  /// Unloads a model.
  func unload(_ name: String) async throws(ServingError) {
    try await change { repository throws(ServingError) in try repository.unload(named: name) }
    logger.notice("model unloaded", metadata: ["model": "\(name)"])
  }

  /// Does what may block, such as reading a model, away from the threads that answer requests.
  func change(_ body: @escaping @Sendable (ModelRepository) throws(ServingError) -> Void)
    async throws(ServingError)
  {
    guard allowsLoading else {
      throw ServingError(
        .notReady,
        "explicit model load / unload is not allowed if polling is enabled, or, as here, without "
          + "--model-control explicit")
    }
    try admission.beginChange()
    defer { admission.endChange() }
    let repository = repository
    let result: Result<Void, ServingError> = await withCheckedContinuation { continuation in
      BlockingThread.run {
        do throws(ServingError) { continuation.resume(returning: .success(try body(repository))) } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    try result.get()
  }
}
