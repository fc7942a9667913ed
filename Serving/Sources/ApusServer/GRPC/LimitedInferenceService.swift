// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore
import GRPCProtobuf
import InferenceProtocol

/// The inference service, whose large requests are looked over before they are decoded, and which says why it lacks some of
/// Triton's methods.
struct LimitedInferenceService: RegistrableRPCService {
  let service: InferenceService

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    service.registerMethods(with: &router)
    let limit = 2 * service.state.maximumBody + (1 << 20)
    let deserializer = AdmittedRequest<Inference_ModelInferRequest>.Deserializer(
      kind: .inference, limit: limit, admission: service.state.admission)
    router.registerHandler(
      forMethod: Inference_GRPCInferenceService.Method.ModelInfer.descriptor, deserializer: deserializer,
      serializer: ProtobufSerializer<Inference_ModelInferResponse>()
    ) { [service] request, context in
      let request = try await ServerRequest(stream: request).message
      let answer = try await service.infer(request)
      return StreamingServerResponse { writer in
        try await writer.write(answer)
        withExtendedLifetime(request.memory) {}
        return [:]
      }
    }
    router.registerHandler(
      forMethod: Inference_GRPCInferenceService.Method.ModelStreamInfer.descriptor,
      deserializer: deserializer,
      serializer: ProtobufSerializer<Inference_ModelStreamInferResponse>()
    ) { [service] request, context in
      StreamingServerResponse { writer in
        try await service.answer(request.messages, writer)
        return [:]
      }
    }
    router.registerHandler(
      forMethod: Inference_GRPCInferenceService.Method.RepositoryModelLoad.descriptor,
      deserializer: AdmittedRequest<Inference_RepositoryModelLoadRequest>.Deserializer(
        kind: .repositoryChange, limit: limit, admission: service.state.admission),
      serializer: ProtobufSerializer<Inference_RepositoryModelLoadResponse>()
    ) { [service] request, context in
      let request = try await ServerRequest(stream: request).message
      let answer = try await service.repositoryModelLoad(request: request.message, context: context)
      return StreamingServerResponse(single: ServerResponse(message: answer))
    }
    router.registerHandler(
      forMethod: Inference_GRPCInferenceService.Method.RepositoryModelUnload.descriptor,
      deserializer: AdmittedRequest<Inference_RepositoryModelUnloadRequest>.Deserializer(
        kind: .repositoryChange, limit: limit, admission: service.state.admission),
      serializer: ProtobufSerializer<Inference_RepositoryModelUnloadResponse>()
    ) { [service] request, context in
      let request = try await ServerRequest(stream: request).message
      let answer = try await service.repositoryModelUnload(request: request.message, context: context)
      return StreamingServerResponse(single: ServerResponse(message: answer))
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
    ) { (request: StreamingServerRequest<[UInt8]>, _) in
      var size = 0
      for try await message in request.messages { size = message.count }
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
