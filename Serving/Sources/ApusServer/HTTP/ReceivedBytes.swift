// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore

/// Counts what comes on a connection before it is parsed: of a body, the parser passes on the data alone, and of a head nothing before its
/// end.
final class ReceivedBytes: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Heads up to this size do not count: the number of connections limits them.
  private static let smallHead = 4 << 10

  /// All bytes so far.
  private(set) var count = 0
  /// The value of `count` at the end of the last request.
  private var start = 0
  /// The size of the head whose body comes.
  private var headSize: Int?
  /// The memory of a head until its request is there: its bytes, and what the parser makes of them.
  private var memory: TakenMemory

  init(_ admission: Admission) { memory = TakenMemory(admission) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    count += unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
  }

  /// Says that a head is there.
  func endHead() { headSize = count - start }

  /// Says that a request is there.
  func endRequest() {
    start = count
    headSize = nil
  }

  /// Takes the memory of the head that comes or has come.
  ///
  /// - Throws: `unavailable` if others hold too much.
  func countHead() throws(ServingError) {
    let size = headSize ?? count - start
    try memory.change(to: size > Self.smallHead ? 2 * size : 0)
  }
}
