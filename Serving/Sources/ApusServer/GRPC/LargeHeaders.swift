// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// Lets HTTP/2 read more headers than a call may have, so that too many end the call and not the connection.
final class LargeHeaders: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// The maximum number of bytes of headers that are read at all: beyond it, the connection ends.
  private static let largest = 256 << 10

  /// Writes the setting after those of the library, which go out first when the connection becomes active. Written earlier, it would
  /// take their place: clients would not learn how many calls they may have.
  func channelActive(context: ChannelHandlerContext) {
    let settings = HTTP2Settings([HTTP2Setting(parameter: .maxHeaderListSize, value: Self.largest)])
    context.writeAndFlush(
      wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings)))),
      promise: nil)
    context.fireChannelActive()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
