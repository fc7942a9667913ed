// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import Logging
import NIOPosix

/// What both surfaces of a server share.
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
  /// What DeepStack's paths need; nil where they are not served.
  var deepStack: DeepStack?
  /// The cameras that are looked at.
  var cameras: [LiveCamera] = []
  let logger: Logger

  /// Whether requests would be answered.
  var isReady: Bool { !admission.isDraining }

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
