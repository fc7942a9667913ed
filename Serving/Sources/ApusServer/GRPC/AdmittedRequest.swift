// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusServingMessages
import GRPCCore
import GRPCProtobuf
import SwiftProtobuf

/// A request, and the memory that it takes.
struct AdmittedRequest<Content: SwiftProtobuf.Message>: Sendable {
  let message: Content
  let memory: HeldMemory

  /// Looks over a message before it is decoded: how much memory it will take, and whether the server has so much.
  struct Deserializer: MessageDeserializer {
    /// Which message it is.
    let kind: DecodedSize.Message
    /// The maximum number of bytes of a decoded message.
    let limit: Int
    let admission: Admission

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> AdmittedRequest {
      let memory = HeldMemory(admission)
      try bytes.withUnsafeBytes { buffer in
        do throws(ServingError) {
          try memory.take(DecodedSize.check(buffer.bindMemory(to: UInt8.self).span, of: kind, limit: limit))
        } catch { throw RPCError(error) }
      }
      return AdmittedRequest(
        message: try ProtobufDeserializer<Content>().deserialize(bytes), memory: memory)
    }
  }
}
