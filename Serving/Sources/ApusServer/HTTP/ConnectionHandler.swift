// SPDX-License-Identifier: Apache-2.0
import ApusServing
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Watches one connection: says when the client leaves, and tells clients that wait for it to go on with their body.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  private let connections: Connections
  private var presence: Presence?
  /// How long a client may take until there is room for the next part of an answer.
  private static let longestStall = TimeAmount.seconds(60)
  private var stall: Scheduled<Void>?

  init(_ connections: Connections) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) { presence = connections.open(context.channel) }

  func handlerRemoved(context: ChannelHandlerContext) { leave(context) }

  func channelInactive(context: ChannelHandlerContext) {
    leave(context)
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    stall?.cancel()
    stall = nil
    if !context.channel.isWritable {
      let channel = context.channel
      stall = context.eventLoop.scheduleTask(in: Self.longestStall) { channel.close(promise: nil) }
    }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { presence?.leave() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head(let head) = unwrapInboundIn(data), let expectation = head.headerFields[.expect],
      expectation.lowercased() == "100-continue"
    {
      context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }
    context.fireChannelRead(data)
  }

  private func leave(_ context: ChannelHandlerContext) {
    stall?.cancel()
    presence?.leave()
    connections.close(context.channel)
  }
}

/// The clients of all connections.
final class Connections: Sendable {
  private let open = Mutex<[ObjectIdentifier: Presence]>([:])

  func open(_ channel: any Channel) -> Presence {
    let presence = Presence()
    open.withLock { $0[ObjectIdentifier(channel)] = presence }
    return presence
  }

  func close(_ channel: any Channel) {
    open.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  /// The client of a connection.
  func presence(of channel: any Channel) -> Presence? { open.withLock { $0[ObjectIdentifier(channel)] } }

  /// How many there are.
  var count: Int { open.withLock { $0.count } }
}
