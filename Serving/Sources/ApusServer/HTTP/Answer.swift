// SPDX-License-Identifier: Apache-2.0
import ApusServing
import HTTPTypes
import Hummingbird
import NIOCore

/// A whole answer of the server over HTTP.
struct Answer {
  var status: HTTPResponse.Status
  var headers: HTTPFields
  var body: ByteBuffer
  /// Writes a body that has no end, in place of `body`; it ends with its camera, or when the client is gone.
  var stream: (@Sendable (inout any ResponseBodyWriter) async throws -> Void)?
  /// The memory that is held until the answer is written; nil if the body does not count yet.
  var memory: HeldMemory?

  /// An answer without a body.
  init(_ status: HTTPResponse.Status) {
    self.status = status
    headers = [:]
    body = ByteBuffer()
  }

  /// An answer with a body of a type.
  init(_ status: HTTPResponse.Status = .ok, type: String, body: ByteBuffer) {
    self.status = status
    headers = [.contentType: type]
    self.body = body
  }

  /// An answer of JSON.
  init(_ status: HTTPResponse.Status = .ok, json: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    json(&writer)
    self.init(status, type: "application/json", body: writer.buffer)
  }

  /// The answer to a request that failed.
  init(_ error: ServingError) {
    self.init(error.status) { writer in
      writer.object { $0.field("error", error.message) }
    }
    if error.status == .serviceUnavailable || error.status == .tooManyRequests {
      headers[.retryAfter] = "1"
    }
    if let method = error.allowedMethod { headers[.allow] = method == "GET" ? "GET, HEAD" : method }
    if error.kind == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
  }

  /// The response for the connection; of a `HEAD` request, without the body.
  func response(headOnly: Bool) -> Response {
    guard headOnly else { return Response(status: status, headers: headers, body: responseBody) }
    // A body without an end has no length, not the length 0.
    guard stream == nil else {
      return Response(
        status: status, headers: headers, body: ResponseBody { writer in try await writer.finish(nil) })
    }
    var response = Response(status: status, headers: headers, body: ResponseBody())
    response.headers[.contentLength] = String(body.readableBytes)
    return response
  }

  /// Counts the body for the memory of all requests until it is written, unless that is done or the body is small: the connection
  /// counts what the client does not take.
  ///
  /// - Throws: `unavailable` if others hold too much.
  mutating func count(for admission: Admission) throws(ServingError) {
    guard memory == nil, body.readableBytes > Self.smallBody else { return }
    let memory = HeldMemory(admission)
    try memory.take(body.readableBytes)
    self.memory = memory
  }

  /// The most bytes of a body that is written at once, without a wait for the client.
  private static let smallBody = 64 << 10
  /// The most bytes that are written at a time.
  private static let partSize = 256 << 10

  /// The body; a large one in parts, each of which waits for the client to read those before.
  private var responseBody: ResponseBody {
    if let stream {
      return ResponseBody { writer in
        var inner: any ResponseBodyWriter = writer
        try await stream(&inner)
        try await writer.finish(nil)
      }
    }
    guard body.readableBytes > Self.smallBody else { return ResponseBody(byteBuffer: body) }
    return ResponseBody(contentLength: body.readableBytes) { [body, memory] writer in
      var rest = body
      while let slice = rest.readSlice(length: min(rest.readableBytes, Self.partSize)),
        slice.readableBytes > 0
      {
        // A slice would keep the whole body for as long as the client does not take it.
        var part = ByteBufferAllocator().buffer(capacity: slice.readableBytes)
        part.writeImmutableBuffer(slice)
        try await writer.write(part)
      }
      withExtendedLifetime(memory) {}
      try await writer.finish(nil)
    }
  }
}

extension ServingError {
  /// The status of the answer over HTTP.
  var status: HTTPResponse.Status {
    switch kind {
    case .badRequest, .notReady: .badRequest
    case .unauthorized: .unauthorized
    case .forbidden: .forbidden
    case .notFound: .notFound
    case .methodNotAllowed: .methodNotAllowed
    case .tooLarge: .contentTooLarge
    case .unsupportedMedia: .unsupportedMediaType
    case .notAcceptable: .notAcceptable
    case .tooSlow: .requestTimeout
    case .queueFull, .unavailable: .serviceUnavailable
    case .deadlineExceeded: .gatewayTimeout
    // The client is gone and reads no status.
    case .cancelled: .init(code: 499, reasonPhrase: "Client Closed Request")
    case .unsupported: .notImplemented
    case .internalFailure: .internalServerError
    }
  }
}
