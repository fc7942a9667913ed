// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Ends a connection of gRPC that has had no call for some time.
///
/// The library has such a limit, too (`maxIdleTime`), but its timer and its handler hold each other for ever once the connection has ended:
/// some 300 bytes of each connection.
final class IdleConnection: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  /// How long a client has to end a connection of its own accord, once it was asked to.
  private static let patience = TimeAmount.seconds(10)

  private let limit: TimeAmount
  private var callCount = 0
  private var end: Scheduled<Void>?

  /// A handler that waits so long for a call.
  init(limit: TimeAmount) { self.limit = limit }

  func handlerAdded(context: ChannelHandlerContext) { wait(context.channel) }

  func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    end?.cancel()
    context.fireChannelInactive()
  }

  /// Counts a call on the connection, until its stream ends.
  func count(_ stream: any Channel) {
    callCount += 1
    end?.cancel()
    let bound = NIOLoopBound(self, eventLoop: stream.eventLoop)
    let connection = stream.parent
    stream.closeFuture.whenComplete { _ in
      let handler = bound.value
      handler.callCount -= 1
      if handler.callCount == 0, let connection, connection.isActive { handler.wait(connection) }
    }
  }

  private func wait(_ connection: any Channel) {
    end?.cancel()
    let bound = NIOLoopBound(self, eventLoop: connection.eventLoop)
    end = connection.eventLoop.scheduleTask(in: limit) {
      // The library tells the client to open no more calls, and closes once it has heard so.
      connection.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      bound.value.end = connection.eventLoop.scheduleTask(in: Self.patience) {
        if bound.value.callCount == 0 { connection.close(promise: nil) }
      }
    }
  }
}
