// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore
import Logging

extension RPCError {
  /// The status of a request that failed.
  init(_ error: ServingError) {
    let code: RPCError.Code =
      switch error.kind {
      case .badRequest, .methodNotAllowed, .unsupportedMedia, .notAcceptable: .invalidArgument
      case .unauthorized: .unauthenticated
      case .forbidden: .permissionDenied
      case .notFound: .notFound
      case .tooLarge: .resourceExhausted
      case .queueFull, .unavailable, .notReady: .unavailable
      case .deadlineExceeded, .tooSlow: .deadlineExceeded
      case .cancelled: .cancelled
      case .unsupported: .unimplemented
      case .internalFailure: .internalError
      }
    self.init(code: code, message: PrintableText.escaped(error.message))
  }
}

/// Lets only those in who have a token; the server's health is open to all.
struct TokenInterceptor: ServerInterceptor {
  let tokens: AccessTokens

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @Sendable (StreamingServerRequest<Input>, ServerContext) async throws -> StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    let isOpen =
      ["ServerLive", "ServerReady"].contains(context.descriptor.method)
      || context.descriptor.service == HealthService.descriptor
    if !isOpen {
      let header = request.metadata[stringValues: "authorization"].first { _ in true }
      do throws(ServingError) { try tokens.check(header) } catch { throw RPCError(error) }
    }
    return try await next(request, context)
  }
}

/// Logs each call, with its `x-request-id`, as requests over HTTP are logged.
struct LogInterceptor: ServerInterceptor {
  let logger: Logger

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @Sendable (StreamingServerRequest<Input>, ServerContext) async throws -> StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    guard logger.logLevel <= .info else { return try await next(request, context) }
    let start = ContinuousClock.now
    let name = request.metadata[stringValues: "x-request-id"].first { _ in true }
    func log(_ code: String) {
      logger.info(
        "\(context.descriptor.fullyQualifiedMethod)",
        metadata: [
          "status": "\(code)", "request": "\(name ?? "-")",
          "milliseconds": "\((ContinuousClock.now - start).milliseconds)",
        ])
    }
    do {
      let response = try await next(request, context)
      if case .failure(let error) = response.accepted { log("\(error.code)") } else { log("ok") }
      return response
    } catch {
      log((error as? RPCError).map { "\($0.code)" } ?? "unknown")
      throw error
    }
  }
}
