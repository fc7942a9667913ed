// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// How each connection of HTTP is set up: the library's parts, with the rules of ``HTTP1Handler`` between them.
struct HTTPConnection: HTTPChannelHandler {
  typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

  let responder: HTTPChannelHandler.Responder
  let connections: Connections
  /// How long a request may take to come; nil for any time.
  let deadline: Duration?
  let admission: Admission

  /// How long a connection may be without a request.
  private static let idleTimeout = Duration.seconds(75)

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      var limits = NIOHTTPDecoderLimitConfiguration()
      limits.maxHeaderFieldSize = 80 << 10
      limits.maxHeaderListSize = 80 << 10
      limits.maxHeaderFieldCount = 1_000
      let pipeline = channel.pipeline.syncOperations
      let received = ReceivedBytes(admission)
      try pipeline.addHandler(received)
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
        withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
      try pipeline.addHandlers(
        HTTP1Handler(received, deadline: deadline.map { TimeAmount($0) }, admission),
        HTTP1ToHTTPServerCodec(secure: false),
        ConnectionHandler(connections),
        HTTPConnectionStateHandler(idleTimeout: Self.idleTimeout, logger: logger))
      return try NIOAsyncChannel(
        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }
  }

  func handle(value channel: Value, logger: Logger) async {
    await handleHTTP(asyncChannel: channel, logger: logger)
  }
}
