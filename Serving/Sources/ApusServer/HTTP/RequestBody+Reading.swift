// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// A body in memory.
struct HeldBody: Sendable {
  let bytes: ByteChunks
  /// The memory of the body, and later of what follows from it.
  let memory: HeldMemory
}

extension Request {
  /// Reads the whole body, expanding `gzip` and `deflate`; first tells a client that waits for it to go on.
  ///
  /// - Throws: `ServingError`: beyond `limit` before or after expansion, an unknown encoding; or what breaks the connection.
  func readBody(limit: Int, admission: Admission, from channel: any Channel) async throws -> HeldBody {
    let encoding = try bodyEncoding()
    let tooLarge = ServingError(.tooLarge, "the body is larger than \(limit) bytes")
    if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
    let expectations = headers[values: .expect].flatMap { $0.split(separator: ",") }
    if expectations.contains(where: { $0.trimmingCharacters(in: .whitespaces).lowercased() == "100-continue" }
    ) {
      channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
    }
    var body = ByteChunks()
    let memory = HeldMemory(admission)
    for try await buffer in self.body {
      guard body.count + buffer.readableBytes <= limit else { throw tooLarge }
      try memory.take(buffer.readableBytes)
      body.append(buffer)
    }
    if let encoding {
      let packed = body
      // Ordinary text expands to some ten times its size.
      body = try await ServerState.converting(packed.count * 16) { () throws(ServingError) in
        try encoding.decompressed(packed, limit: limit)
      }
      try memory.take(body.count)
    }
    return HeldBody(bytes: body, memory: memory)
  }

  private func bodyEncoding() throws(ServingError) -> Compression? {
    guard let name = headers[.contentEncoding]?.lowercased(), !name.isEmpty, name != "identity" else {
      return nil
    }
    guard let encoding = Compression(rawValue: name == "x-gzip" ? "gzip" : name) else {
      throw ServingError(.unsupportedMedia, "the content encoding '\(name)' is not gzip, deflate or identity")
    }
    return encoding
  }
}
