// SPDX-License-Identifier: Apache-2.0
import ApusServing
import HTTPTypes
import Hummingbird
import NIOCore

/// What the server answers over HTTP, whole.
struct Answer {
  var status: HTTPResponse.Status
  var headers: HTTPFields
  var body: ByteBuffer

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
    guard headOnly else {
      return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
    var response = Response(status: status, headers: headers, body: ResponseBody())
    response.headers[.contentLength] = String(body.readableBytes)
    return response
  }
}

extension ServingError {
  /// The status of the answer over HTTP.
  var status: HTTPResponse.Status {
    switch kind {
    case .badRequest, .notReady: .badRequest
    case .unauthorized: .unauthorized
    case .notFound: .notFound
    case .methodNotAllowed: .methodNotAllowed
    case .tooLarge: .contentTooLarge
    case .unsupportedMedia: .unsupportedMediaType
    case .tooSlow: .requestTimeout
    case .queueFull, .unavailable: .serviceUnavailable
    case .deadlineExceeded: .gatewayTimeout
    // Nobody reads it: the client went away.
    case .cancelled: .init(code: 499, reasonPhrase: "Client Closed Request")
    case .unsupported: .notImplemented
    case .internalFailure: .internalServerError
    }
  }
}
