// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Watches one connection: says when the client leaves.
///
/// A client that closes its sending side has not left: it waits for its answer. One that is gone resets the connection, or what
/// is written to it fails.
final class ConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart

  private let connections: Connections
  private var presence: Presence?

  init(_ connections: Connections) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) { presence = connections.open(context.channel) }

  func handlerRemoved(context: ChannelHandlerContext) { leave(context) }

  func channelInactive(context: ChannelHandlerContext) {
    leave(context)
    context.fireChannelInactive()
  }

  private func leave(_ context: ChannelHandlerContext) {
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
