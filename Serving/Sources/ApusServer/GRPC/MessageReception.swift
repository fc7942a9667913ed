// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore
import NIOHTTP2

/// Watches how messages come on a stream of gRPC: a message that is not whole takes memory of what all requests may take
/// together, and must be whole in time.
///
/// Where either is too much, the stream ends.
final class MessageReception: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload

  private let admission: Admission
  private let timeLimit: TimeAmount?
  /// What the message that is not whole takes.
  private var memory: HeldMemory?
  private var alarm: Scheduled<Void>?
  /// The bytes of the message's head that are there: whether it is compressed, and its length, big-endian.
  private var head: [UInt8] = []
  /// The bytes of the message that are missing.
  private var missing = 0

  /// A message has a head of this many bytes.
  private static let headLength = 5

  /// Makes a handler for one stream.
  ///
  /// - Parameter timeLimit: How long a message may take to come; nil for any time.
  init(_ admission: Admission, timeLimit: TimeAmount?) {
    self.admission = admission
    self.timeLimit = timeLimit
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .data(let frame) = unwrapInboundIn(data), case .byteBuffer(let bytes) = frame.data {
      note(bytes.readableBytesView)
      do throws(ServingError) { try hold(bytes.readableBytes, context) } catch {
        return context.close(promise: nil)
      }
    }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    forget()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { forget() }

  /// Follows heads and lengths of messages.
  private func note(_ bytes: ByteBufferView) {
    var rest = bytes[...]
    while !rest.isEmpty {
      if missing > 0 {
        let part = min(missing, rest.count)
        missing -= part
        rest = rest.dropFirst(part)
      } else {
        head.append(rest.removeFirst())
        guard head.count == Self.headLength else { continue }
        missing = head.dropFirst().reduce(0) { $0 << 8 | Int($1) }
        head.removeAll(keepingCapacity: true)
      }
      if missing == 0, head.isEmpty { forget() }
    }
  }

  /// Takes memory for a message that is not whole, and sets its alarm.
  private func hold(_ bytes: Int, _ context: ChannelHandlerContext) throws(ServingError) {
    guard missing > 0 || !head.isEmpty else { return }
    if memory == nil {
      memory = HeldMemory(admission)
      if let timeLimit {
        let channel = context.channel
        alarm = context.eventLoop.scheduleTask(in: timeLimit) { channel.close(promise: nil) }
      }
    }
    try memory?.take(bytes)
  }

  private func forget() {
    memory = nil
    alarm?.cancel()
    alarm = nil
  }
}
