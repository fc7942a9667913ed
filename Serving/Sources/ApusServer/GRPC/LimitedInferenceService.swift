// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusServingMessages
import GRPCCore
import GRPCProtobuf
import InferenceProtocol

/// The inference service, whose requests for inference are looked over before they are decoded.
struct LimitedInferenceService: RegistrableRPCService {
  let service: InferenceService

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    service.registerMethods(with: &router)
    let deserializer = Deserializer(limit: 2 * service.state.maximumBody + (1 << 20))
    router.registerHandler(
      forMethod: Inference_GRPCInferenceService.Method.ModelInfer.descriptor, deserializer: deserializer,
      serializer: ProtobufSerializer<Inference_ModelInferResponse>()
    ) { [service] request, context in try await service.modelInfer(request: request, context: context) }
    router.registerHandler(
      forMethod: Inference_GRPCInferenceService.Method.ModelStreamInfer.descriptor,
      deserializer: deserializer,
      serializer: ProtobufSerializer<Inference_ModelStreamInferResponse>()
    ) { [service] request, context in try await service.modelStreamInfer(request: request, context: context) }
  }

  /// Decodes requests that take at most a number of bytes.
  private struct Deserializer: MessageDeserializer {
    let limit: Int

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Inference_ModelInferRequest {
      try bytes.withUnsafeBytes { buffer in
        do throws(ServingError) {
          try DecodedSize.check(buffer.bindMemory(to: UInt8.self).span, limit: limit)
        } catch { throw RPCError(error) }
      }
      return try ProtobufDeserializer<Inference_ModelInferRequest>().deserialize(bytes)
    }
  }
}
