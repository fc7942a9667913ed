// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Hummingbird
import NIOCore

/// Extensions of Triton's that this server does not have: clients that only ask or clean up are told so by empty answers.
extension HTTPSurface {
  /// `v2/systemsharedmemory` and `v2/cudasharedmemory`: no region is registered, and none can be.
  func routeSharedMemory(_ path: [String], _ exchange: Exchange) async throws -> Answer {
    let request = exchange.request
    let isOfRegion = path.first == "region" && path.count == 3
    guard path.count == 1 || isOfRegion else {
      throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
    }
    switch path.last {
    case "status":
      try allow(request, .get)
      if isOfRegion {
        throw ServingError(.notFound, "Unable to find shared memory region: '\(path[1])': there is none")
      }
      return Answer(type: "application/json", body: ByteBuffer(string: "[]"))
    case "register" where isOfRegion:
      try allow(request, .post)
      _ = try await readBody(of: exchange, limit: Self.smallBody)
      throw ServingError.bad(
        "failed to register shared memory region '\(path[1])': shared memory is not supported")
    case "unregister":
      try allow(request, .post)
      _ = try await readBody(of: exchange, limit: Self.smallBody)
      return Answer(type: "application/json", body: ByteBuffer(string: "{}"))
    default: throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
    }
  }

  /// `v2/trace/setting` and `v2/models/M/trace/setting`: traces are off, and cannot be turned on.
  func respondWithTraceSettings(_ exchange: Exchange) async throws -> Answer {
    try await refuseSettings(exchange, ServerState.unchangeableTraces)
    return Answer { writer in
      writer.object { writer in
        writer.key("trace_level")
        writer.array { $0.string("OFF") }
      }
    }
  }

  /// `v2/logging`: what the log has follows from `--log-level`, and cannot be changed.
  func respondWithLogSettings(_ exchange: Exchange) async throws -> Answer {
    try await refuseSettings(exchange, ServerState.unchangeableLog)
    return Answer { writer in
      writer.object { writer in
        for (name, value) in state.logSettings { writer.field(name, value) }
      }
    }
  }

  /// Takes GET, and POST without settings.
  private func refuseSettings(_ exchange: Exchange, _ message: String) async throws {
    let request = exchange.request
    if request.method == .post {
      let body = try await readBody(of: exchange, limit: Self.smallBody)
      let text = body.bytes.array
      guard try text.isEmpty || InferenceJSON.object(text).isEmpty else {
        throw ServingError.bad(message)
      }
    } else if request.method != .get, request.method != .head {
      var error = ServingError(
        .methodNotAllowed, "\(request.uri.path) takes GET and POST, not \(request.method)")
      error.allowedMethod = "GET, HEAD, POST"
      throw error
    }
  }
}
