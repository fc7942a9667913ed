// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusServingMessages
import Foundation
import GRPCCore
import InferenceProtocol
import NIOCore
import ServiceLifecycle

/// The server's gRPC surface: `inference.GRPCInferenceService`.
struct InferenceService: Inference_GRPCInferenceService.SimpleServiceProtocol {
  let state: ServerState

  // MARK: Health and metadata

  func serverLive(
    request: Inference_ServerLiveRequest, context: ServerContext
  ) async throws -> Inference_ServerLiveResponse {
    .with { $0.live = true }
  }

  func serverReady(
    request: Inference_ServerReadyRequest, context: ServerContext
  ) async throws -> Inference_ServerReadyResponse {
    .with { $0.ready = state.isReady }
  }

  func modelReady(
    request: Inference_ModelReadyRequest, context: ServerContext
  ) async throws -> Inference_ModelReadyResponse {
    let model = try? state.repository.model(named: request.name, version: request.version)
    return .with { $0.ready = model != nil && state.takesRequests }
  }

  func serverMetadata(
    request: Inference_ServerMetadataRequest, context: ServerContext
  ) async throws -> Inference_ServerMetadataResponse {
    .with {
      $0.name = state.identifier
      $0.version = ServerState.version
      $0.extensions = ServerState.extensions
    }
  }

  func modelMetadata(
    request: Inference_ModelMetadataRequest, context: ServerContext
  ) async throws -> Inference_ModelMetadataResponse {
    try answering { () throws(ServingError) in
      let model = try state.repository.model(named: request.name, version: request.version)
      return .with {
        $0.name = model.name
        $0.versions = state.repository.versions(of: model.name)
        $0.platform = Descriptions.platform
        $0.inputs = model.describedInputs.map(Self.metadata)
        $0.outputs = model.describedOutputs.map(Self.metadata)
      }
    }
  }

  private static func metadata(of tensor: TensorSpecification)
    -> Inference_ModelMetadataResponse.TensorMetadata
  {
    .with {
      $0.name = tensor.name
      $0.datatype = tensor.datatype.rawValue
      $0.shape = tensor.shape.map(Int64.init)
    }
  }

  func modelConfig(
    request: Inference_ModelConfigRequest, context: ServerContext
  ) async throws -> Inference_ModelConfigResponse {
    try answering { () throws(ServingError) in
      let model = try state.repository.model(named: request.name, version: request.version)
      let scheduling = state.scheduler.configuration
      return .with { response in
        response.config = .with { config in
          config.name = model.name
          config.platform = Descriptions.platform
          config.backend = ServerState.name
          config.maxBatchSize = model.batches ? Int32(model.maximumBatch) : 0
          config.input = model.describedInputs.enumerated().map { position, tensor in
            .with {
              $0.name = tensor.name
              $0.dataType = tensor.datatype.configurationType
              $0.format = Descriptions.isNHWC(model, input: position) ? .nhwc : .none
              $0.dims = (model.batches ? tensor.shape.dropFirst() : tensor.shape[...]).map(Int64.init)
            }
          }
          config.output = model.describedOutputs.map { tensor in
            .with {
              $0.name = tensor.name
              $0.dataType = tensor.datatype.configurationType
              $0.dims = (model.batches ? tensor.shape.dropFirst() : tensor.shape[...]).map(Int64.init)
            }
          }
          config.instanceGroup = [
            .with {
              $0.name = model.name
              $0.kind = .cpu
              $0.count = Int32(scheduling.instances)
            }
          ]
          if model.batches {
            config.dynamicBatching = .with {
              $0.preferredBatchSize = [Int32(model.joining.count)]
              $0.maxQueueDelayMicroseconds = UInt64(scheduling.queueDelay / .microseconds(1))
            }
          }
          for (name, value) in Descriptions.parameters(of: model) {
            config.parameters[name] = .with { $0.stringValue = value }
          }
        }
      }
    }
  }

  // MARK: Inference

  func modelInfer(
    request: Inference_ModelInferRequest, context: ServerContext
  ) async throws -> Inference_ModelInferResponse {
    let presence = Presence()
    return try await withRPCCancellationHandler {
      try await awaiting { () async throws(ServingError) in try await infer(request, presence: presence) }
    } onCancelRPC: {
      presence.leave()
    }
  }

  /// `LimitedInferenceService` has requests looked over before they are decoded, and calls ``answer(_:_:)``.
  func modelStreamInfer(
    request: RPCAsyncSequence<Inference_ModelInferRequest, any Error>,
    response: RPCWriter<Inference_ModelStreamInferResponse>, context: ServerContext
  ) async throws {
    throw RPCError(code: .unimplemented, message: "the requests were not looked over")
  }

  /// Answers a stream of requests in their order; several run at a time. A request that fails is answered with its
  /// error, and the stream goes on.
  ///
  /// - Parameter incoming: What counts the messages until they are taken.
  func answer(
    _ requests: RPCAsyncSequence<AdmittedRequest<Inference_ModelInferRequest>, any Error>,
    of incoming: IncomingMessages?, _ response: RPCWriter<Inference_ModelStreamInferResponse>
  ) async throws {
    let presence = Presence()
    try await withRPCCancellationHandler {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        let (answers, continuation) = AsyncStream.makeStream(of: Task<CountedAnswer, Never>.self)
        let (written, didWrite) = AsyncStream.makeStream(of: Void.self)
        group.addTask {
          defer { continuation.finish() }
          // A stream without requests must not keep the server from ending.
          return try await cancelWhenGracefulShutdown {
            do {
              var written = written.makeAsyncIterator()
              var unwritten = 0
              let tasks = requests.map { request in
                incoming?.removeFirst()
                return Task { await streamed(request, presence: presence) }
              }
              for try await task in tasks {
                continuation.yield(task)
                // No request is held here: a client that takes no answers takes no memory from others.
                if unwritten < Self.maximumUnwritten - 1 { unwritten += 1 } else { _ = await written.next() }
              }
              return Task.isCancelled && state.admission.isDraining
            } catch {
              guard Task.isCancelled, state.admission.isDraining else { throw error }
              return true
            }
          }
        }
        // Written by the task that writes the status in the end: that of another task could be written first.
        do {
          defer { didWrite.finish() }
          for await answer in answers {
            let answer = await answer.value
            try await response.write(answer.message)
            withExtendedLifetime(answer.memory) {}
            didWrite.yield()
          }
          while let isEnded = try await group.next() {
            if isEnded { throw RPCError(ServingError(.unavailable, "the server is shutting down")) }
          }
        } catch {
          presence.leave()
          throw error
        }
      }
    } onCancelRPC: {
      presence.leave()
    }
  }

  /// The most requests of one stream that are accepted and whose answers the client has not taken.
  private static let maximumUnwritten = 64

  private func streamed(
    _ request: AdmittedRequest<Inference_ModelInferRequest>, presence: Presence
  ) async -> CountedAnswer {
    defer { withExtendedLifetime(request.memory) {} }
    let memory = HeldMemory(state.admission)
    var id = ""
    do throws(ServingError) {
      let message = try request.message
      id = message.id
      let answer = try await infer(message, presence: presence)
      try memory.take(Self.size(of: answer))
      return CountedAnswer(message: Self.final(.with { $0.inferResponse = answer }), memory: memory)
    } catch {
      return CountedAnswer(
        message: Self.final(
          .with {
            $0.errorMessage = error.message
            $0.inferResponse.id = id
          }), memory: memory)
    }
  }

  /// Marks the answer of a stream as the last one to its request, which each answer is: clients of models that may answer several times
  /// wait for that mark.
  private static func final(
    _ answer: Inference_ModelStreamInferResponse
  ) -> Inference_ModelStreamInferResponse {
    var answer = answer
    answer.inferResponse.parameters["triton_final_response"] = .with { $0.boolParam = true }
    return answer
  }

  /// An answer of a stream with the memory that it takes until it is written.
  private struct CountedAnswer {
    let message: Inference_ModelStreamInferResponse
    let memory: HeldMemory
  }

  /// The bytes that an answer takes until it is written, once as a message and once encoded.
  static func size(of answer: Inference_ModelInferResponse) -> Int {
    2 * answer.rawOutputContents.reduce(0) { $0 + $1.count }
  }

  private func infer(
    _ request: Inference_ModelInferRequest, presence: Presence
  ) async throws(ServingError) -> Inference_ModelInferResponse {
    let arrival = ContinuousClock.now
    try state.admission.enter()
    defer { state.admission.leave() }
    let size = request.rawInputContents.reduce(0) { $0 + $1.count }
    guard size <= state.maximumBody else {
      throw ServingError(.tooLarge, "the tensors take \(size) bytes, more than \(state.maximumBody)")
    }
    let model = try state.repository.model(named: request.modelName, version: request.modelVersion)
    let description: RequestDescription
    do { description = try RequestDescription(request) } catch {
      model.statistics.recordFailure(error, ContinuousClock.now - arrival)
      throw error
    }
    let (_, answer) = try await state.infer(description, on: model, arrival: arrival, presence: presence)
    return .with { response in
      response.modelName = model.name
      response.modelVersion = model.version
      response.id = request.id
      if let warning = answer.warning { response.parameters["warning"] = .with { $0.stringParam = warning } }
      for output in answer.outputs {
        response.outputs.append(
          .with {
            $0.name = output.name
            $0.datatype = output.datatype.rawValue
            $0.shape = output.shape.map(Int64.init)
          })
        response.rawOutputContents.append(Data(output.elements.readableBytesView))
      }
    }
  }

  // MARK: Statistics and repository

  func modelStatistics(
    request: Inference_ModelStatisticsRequest, context: ServerContext
  ) async throws -> Inference_ModelStatisticsResponse {
    try answering { () throws(ServingError) in
      let models =
        request.name.isEmpty
        ? state.repository.entries.compactMap(\.model)
        : try state.repository.models(named: request.name, version: request.version)
      return .with { $0.modelStats = models.map(Inference_ModelStatistics.init) }
    }
  }

  func repositoryIndex(
    request: Inference_RepositoryIndexRequest, context: ServerContext
  ) async throws -> Inference_RepositoryIndexResponse {
    try answering { () throws(ServingError) in try Self.check(repository: request.repositoryName) }
    let entries = await state.index().filter { $0.model != nil || !request.ready }
    return .with { response in
      response.models = entries.map { entry in
        .with {
          $0.name = entry.source.name
          $0.version = entry.source.version
          $0.state = entry.model == nil ? "UNAVAILABLE" : "READY"
          $0.reason = entry.reason
        }
      }
    }
  }

  func repositoryModelLoad(
    request: Inference_RepositoryModelLoadRequest, context: ServerContext
  ) async throws -> Inference_RepositoryModelLoadResponse {
    try await awaiting { () async throws(ServingError) in
      try Self.check(repository: request.repositoryName)
      let parameters = Self.parameters(request.parameters)
      let settings: LoadSettings
      do throws(ServingError) {
        settings = try LoadSettings(parameters, ofModel: request.modelName)
      } catch {
        // Triton's clients know a load of files that is refused by this status.
        guard parameters.keys.contains(where: { $0.hasPrefix("file:") }) else { throw error }
        throw ServingError(.internalFailure, error.message)
      }
      try await state.load(request.modelName, settings)
      return .init()
    }
  }

  func repositoryModelUnload(
    request: Inference_RepositoryModelUnloadRequest, context: ServerContext
  ) async throws -> Inference_RepositoryModelUnloadResponse {
    try await awaiting { () async throws(ServingError) in
      try Self.check(repository: request.repositoryName)
      try LoadSettings.checkUnload(Self.parameters(request.parameters), ofModel: request.modelName)
      try await state.unload(request.modelName)
      return .init()
    }
  }

  /// Refuses the name of a repository: all models are of one, which has none.
  private static func check(repository name: String) throws(ServingError) {
    guard name.isEmpty else {
      throw ServingError(.unsupported, "'repository_name' specification is not supported")
    }
  }

  private static func parameters(
    _ parameters: [String: Inference_ModelRepositoryParameter]
  ) -> RequestParameters {
    parameters.mapValues { parameter in
      switch parameter.parameterChoice {
      case .stringParam(let text): .text(text)
      case .boolParam(let flag): .bool(flag)
      case .int64Param(let number): .integer(number)
      default: .other
      }
    }
  }

  // MARK: Errors

  private func answering<Value>(_ body: () throws(ServingError) -> Value) throws -> Value {
    do throws(ServingError) { return try body() } catch { throw RPCError(error) }
  }

  private func awaiting<Value>(_ body: () async throws(ServingError) -> Value) async throws -> Value {
    do throws(ServingError) { return try await body() } catch { throw RPCError(error) }
  }
}
