// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore

extension RPCError {
  /// The status of a request that failed.
  init(_ error: ServingError) {
    let code: RPCError.Code =
      switch error.kind {
      case .badRequest, .methodNotAllowed, .unsupportedMedia, .notAcceptable: .invalidArgument
      case .unauthorized: .unauthenticated
      case .notFound: .notFound
      case .tooLarge, .queueFull: .resourceExhausted
      case .unavailable, .notReady: .unavailable
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
    if context.descriptor.method != "ServerLive", context.descriptor.method != "ServerReady" {
      let header = request.metadata[stringValues: "authorization"].first { _ in true }
      do throws(ServingError) { try tokens.check(header) } catch { throw RPCError(error) }
    }
    return try await next(request, context)
  }
}
