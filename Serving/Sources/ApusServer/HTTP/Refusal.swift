// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Foundation
import NIOCore
import NIOHTTP1

/// Why something that came is no request, or no longer waited for.
struct Refusal {
  let status: HTTPResponseStatus
  let message: String

  init(_ status: HTTPResponseStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  /// The refusal for an error of the parser.
  init(_ error: HTTPParserError) {
    switch error {
    case .headerOverflow:
      self.init(.requestHeaderFieldsTooLarge, "the headers are too large, or too many")
    case .invalidVersion: self.init(.httpVersionNotSupported, "the version of HTTP is not 1.0 or 1.1")
    case .invalidEOFState: self.init(.badRequest, "the request ends early")
    default: self.init(.badRequest, "this is no request of HTTP/1.1: \(error)")
    }
  }

  /// The refusal of a request's head; nil if nothing is wrong with it.
  ///
  /// Where two readers could disagree about the end of a request, one of them would take a part of it for the next request: such
  /// heads are refused (RFC 9112, sections 3.2 and 6.3).
  init?(of head: HTTPRequestHead) {
    // The parser leaves the blanks at the end of a value.
    let hosts = head.headers["Host"].map { $0.trimmingCharacters(in: .whitespaces) }
    let lengths = head.headers["Content-Length"].map { $0.trimmingCharacters(in: .whitespaces) }
    // Not the list's elements: of ",chunked", which has one, others may read none.
    let codings = head.headers["Transfer-Encoding"].map { $0.trimmingCharacters(in: .whitespaces) }
    if head.version.major != 1 || head.version.minor > 1 {
      self.init(.httpVersionNotSupported, "the version of HTTP is \(head.version), not 1.0 or 1.1")
    } else if !Self.isTarget(head.uri, of: head.method) {
      self.init(.badRequest, "the target '\(head.uri.prefix(100))' is no path and no address of HTTP")
    } else if hosts.count > 1 || (hosts.isEmpty && head.version != .http1_0) {
      self.init(.badRequest, "the request has \(hosts.count) headers Host, not one")
    } else if let host = hosts.first, !Self.isHost(host) {
      self.init(.badRequest, "the header Host is '\(host)', not a host with or without a port")
    } else if lengths.count > 1 {
      self.init(.badRequest, "the request has \(lengths.count) headers Content-Length")
    } else if let length = lengths.first,
      !length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || Int(length) == nil
    {
      self.init(.badRequest, "Content-Length is '\(length)', not a number of bytes")
    } else if codings.isEmpty {
      return nil
    } else if !lengths.isEmpty {
      self.init(.badRequest, "the request has Content-Length and Transfer-Encoding")
    } else if head.version == .http1_0 {
      self.init(.badRequest, "HTTP/1.0 has no Transfer-Encoding")
    } else if codings.count > 1 || codings.first?.lowercased() != "chunked" {
      self.init(.notImplemented, "the transfer encoding '\(codings.joined(separator: ", "))' is not chunked")
    } else {
      return nil
    }
  }

  /// The answer: its head and its body.
  var answer: (HTTPResponseHead, ByteBuffer) {
    var writer = JSONWriter()
    writer.object { $0.field("error", message) }
    let body = writer.buffer
    var headers = HTTPHeaders([
      ("Content-Type", "application/json"), ("Content-Length", String(body.readableBytes)),
      ("Connection", "close"), ("Date", HTTPTime.text(.now)),
    ])
    if status == .serviceUnavailable { headers.add(name: "Retry-After", value: "1") }
    return (HTTPResponseHead(version: .http1_1, status: status, headers: headers), body)
  }
}
