// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Counts what comes on a connection before it is parsed: of a body, the parser passes on the data alone.
final class ReceivedBytes: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// All bytes so far.
  private(set) var count = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    count += unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
  }
}
