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
      registerEmpty("\(memory)Status", with: &router)
      registerEmpty("\(memory)Unregister", with: &router)
      registerEmpty(
        "\(memory)Register", with: &router,
        error: "failed to register shared memory region: shared memory is not supported")
    }
    registerEmpty(
      "TraceSetting", with: &router, changing: "trace settings cannot be changed: traces are not supported")
    registerEmpty("LogSettings", with: &router, changing: "log settings cannot be changed: use --log-level")
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
      // What is not taken is refused before the client ends the call.
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

  /// Registers a method whose answer is an empty message, or an error.
  ///
  /// - Parameters:
  ///   - error: The error for every request; nil for none.
  ///   - changing: The error for requests that are not empty; nil for none.
  private func registerEmpty<Transport: ServerTransport>(
    _ method: String, with router: inout RPCRouter<Transport>, error: String? = nil, changing: String? = nil
  ) {
    router.registerHandler(
      forMethod: MethodDescriptor(
        service: Inference_GRPCInferenceService.descriptor, method: method),
      deserializer: MessageBytes(), serializer: MessageBytes()
    ) { [calls] (request: StreamingServerRequest<[UInt8]>, _) in
      let incoming = calls.messages(of: request.metadata)
      var size = 0
      for try await message in request.messages {
        incoming?.removeFirst()
        size = message.count
      }
      if let message = error ?? (size > 0 ? changing : nil) {
        throw RPCError(code: .unimplemented, message: message)
      }
      return StreamingServerResponse(of: [UInt8].self) { writer in
        try await writer.write([UInt8]())
        return [:]
      }
    }
  }

  /// Messages as their bytes.
  private struct MessageBytes: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] {
      bytes.withUnsafeBytes { Array($0) }
    }
  }
}
