// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusServingMessages
import GRPCCore
import GRPCProtobuf
import SwiftProtobuf

/// A request, and the memory that it takes until its inference ends; or why the server does not take it.
struct AdmittedRequest<Content: SwiftProtobuf.Message>: Sendable {
  private let content: Result<Content, ServingError>
  let memory: HeldMemory

  /// The request, as long as ``memory`` is held.
  var message: Content { get throws(ServingError) { try content.get() } }

  /// Looks over a message before it is decoded: how much memory it will take, and whether the server has so much.
  ///
  /// A message that is refused is no error here: that would end its whole stream.
  struct Deserializer: MessageDeserializer {
    /// Which message it is.
    let kind: DecodedSize.Message
    /// The maximum number of bytes of a decoded message.
    let limit: Int
    let admission: Admission

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> AdmittedRequest {
      let memory = HeldMemory(admission)
      let refusal = bytes.withUnsafeBytes { buffer -> ServingError? in
        do throws(ServingError) {
          try memory.take(DecodedSize.check(buffer.bindMemory(to: UInt8.self).span, of: kind, limit: limit))
          return nil
        } catch { return error }
      }
      if let refusal { return AdmittedRequest(content: .failure(refusal), memory: memory) }
      return AdmittedRequest(
        content: .success(try ProtobufDeserializer<Content>().deserialize(bytes)), memory: memory)
    }
  }
}
