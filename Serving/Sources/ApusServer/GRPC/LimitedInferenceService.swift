// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusServingMessages
import GRPCCore
import GRPCProtobuf
import InferenceProtocol
import SwiftProtobuf

/// The inference service, whose requests are looked over before they are decoded, and which says why it lacks some of Triton's methods.
struct LimitedInferenceService: RegistrableRPCService {
  private typealias Method = Inference_GRPCInferenceService.Method

  let service: InferenceService
  let calls: OpenCalls

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    service.registerMethods(with: &router)
    registerAdmitted(Method.ServerLive.descriptor, .other, with: &router, service.serverLive)
    registerAdmitted(Method.ServerReady.descriptor, .other, with: &router, service.serverReady)
    registerAdmitted(Method.ModelReady.descriptor, .other, with: &router, service.modelReady)
    registerAdmitted(Method.ServerMetadata.descriptor, .other, with: &router, service.serverMetadata)
    registerAdmitted(Method.ModelMetadata.descriptor, .other, with: &router, service.modelMetadata)
    registerAdmitted(Method.ModelConfig.descriptor, .other, with: &router, service.modelConfig)
    registerAdmitted(Method.ModelStatistics.descriptor, .other, with: &router, service.modelStatistics)
    registerAdmitted(Method.RepositoryIndex.descriptor, .other, with: &router, service.repositoryIndex)
    registerAdmitted(
      Method.ModelInfer.descriptor, .inference, with: &router, size: InferenceService.size(of:),
      service.modelInfer)
    registerAdmitted(
      Method.RepositoryModelLoad.descriptor, .repositoryChange, with: &router, service.repositoryModelLoad)
    registerAdmitted(
      Method.RepositoryModelUnload.descriptor, .repositoryChange, with: &router, service.repositoryModelUnload
    )
    router.registerHandler(
      forMethod: Method.ModelStreamInfer.descriptor, deserializer: deserializer(.inference),
      serializer: ProtobufSerializer<Inference_ModelStreamInferResponse>()
    ) { [service, calls] (request: StreamingServerRequest<AdmittedRequest<Inference_ModelInferRequest>>, _) in
      let incoming = calls.messages(of: request.metadata)
      return StreamingServerResponse { writer in
        try await service.answer(request.messages, of: incoming, writer)
        return [:]
      }
    }
    // No region of shared memory is registered, and none can be: clients that only ask or clean up get empty answers.
    for memory in ["SystemSharedMemory", "CudaSharedMemory"] {
      registerFixed("\(memory)Status", with: &router)
      registerFixed("\(memory)Unregister", with: &router)
      registerFixed("\(memory)Register", with: &router) { _ in
        throw RPCError(
          code: .unimplemented,
          message: "failed to register shared memory region: shared memory is not supported")
      }
    }
    registerSettings(with: &router)
  }

  private func deserializer<Content>(_ kind: DecodedSize.Message) -> AdmittedRequest<Content>.Deserializer {
    .init(kind: kind, limit: 2 * service.state.maximumBody + (1 << 20), admission: service.state.admission)
  }

  /// Registers a method of one request and one answer, whose requests are looked over before they are decoded.
  ///
  /// - Parameter size: The bytes that an answer takes until it is written.
  private func registerAdmitted<
    Transport: ServerTransport, Content: SwiftProtobuf.Message, Output: SwiftProtobuf.Message
  >(
    _ method: MethodDescriptor, _ kind: DecodedSize.Message, with router: inout RPCRouter<Transport>,
    size: @escaping @Sendable (Output) -> Int = { _ in 0 },
    _ answer: @escaping @Sendable (Content, ServerContext) async throws -> Output
  ) {
    router.registerHandler(
      forMethod: method, deserializer: deserializer(kind), serializer: ProtobufSerializer<Output>()
    ) {
      [calls, admission = service.state.admission]
      (request: StreamingServerRequest<AdmittedRequest<Content>>, context) in
      let incoming = calls.messages(of: request.metadata)
      var messages = request.messages.makeAsyncIterator()
      guard let admitted = try await messages.next() else {
        throw RPCError(code: .invalidArgument, message: "the call has no message")
      }
      defer { withExtendedLifetime(admitted.memory) {} }
      incoming?.removeFirst()
      // A message that is not admitted is refused before the client ends the call.
      let message: Content
      do throws(ServingError) { message = try admitted.message } catch { throw RPCError(error) }
      guard try await messages.next() == nil else {
        throw RPCError(code: .invalidArgument, message: "the call has more than one message")
      }
      let output = try await answer(message, context)
      let memory = HeldMemory(admission)
      do throws(ServingError) { try memory.take(size(output)) } catch { throw RPCError(error) }
      return StreamingServerResponse(of: Output.self) { writer in
        defer { withExtendedLifetime(memory) {} }
        try await writer.write(output)
        return [:]
      }
    }
  }

  /// Registers a method whose answer is always the same, or an error.
  ///
  /// - Parameters:
  ///   - answer: The message.
  ///   - check: Refuses a request.
  private func registerFixed<Transport: ServerTransport>(
    _ method: String, with router: inout RPCRouter<Transport>, _ answer: [UInt8] = [],
    check: @escaping @Sendable ([UInt8]) throws -> Void = { _ in }
  ) {
    router.registerHandler(
      forMethod: MethodDescriptor(
        service: Inference_GRPCInferenceService.descriptor, method: method),
      deserializer: MessageBytes(), serializer: MessageBytes()
    ) { [calls] (request: StreamingServerRequest<[UInt8]>, _) in
      let incoming = calls.messages(of: request.metadata)
      var latest: [UInt8] = []
      for try await message in request.messages {
        incoming?.removeFirst()
        latest = message
      }
      // As for other calls of one message, the client ends the call first.
      try check(latest)
      return StreamingServerResponse(of: [UInt8].self) { writer in
        try await writer.write(answer)
        return [:]
      }
    }
  }

  /// Registers the settings of traces and of the log, which only the server's start decides: the answers are those over HTTP.
  private func registerSettings<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    let unchangeable = { @Sendable (message: String) in RPCError(code: .unimplemented, message: message) }
    let off = MessageBytes.field(1, Array("OFF".utf8))
    let level = MessageBytes.field(1, Array("trace_level".utf8)) + MessageBytes.field(2, off)
    registerFixed("TraceSetting", with: &router, MessageBytes.field(1, level)) { [service] message in
      let model = MessageBytes.text(2, of: message)
      guard model?.rest.isEmpty ?? message.isEmpty else { throw unchangeable(ServerState.unchangeableTraces) }
      guard let name = model?.text, !name.isEmpty else { return }
      do throws(ServingError) { _ = try service.state.repository.entry(named: name) } catch {
        throw RPCError(error)
      }
    }
    let log = service.state.logSettings.flatMap { name, value in
      let setting: [UInt8] = [0x08, value ? 1 : 0]
      return MessageBytes.field(
        1, MessageBytes.field(1, Array(name.utf8)) + MessageBytes.field(2, setting))
    }
    registerFixed("LogSettings", with: &router, log) { message in
      guard message.isEmpty else { throw unchangeable(ServerState.unchangeableLog) }
    }
  }
}
