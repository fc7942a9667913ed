// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore
import NIOHTTP2
import NIOPosix

/// Expands the compressed messages of one call, so that the library gets plain ones.
///
/// ```
/// frames of one stream ⇄ StreamGuard ⇄ MessageExpansion ⇄ the library's handler
/// ```
///
/// The library would expand on the event loop, take the first of several members of gzip for all, and never return from a message that
/// ends early. Messages are passed on one at a time, when the library asks for more: a call holds the bytes that have come, and one message
/// that is being expanded. A call that ends with its headers ends with an empty frame here: the library does not hear of the other.
final class MessageExpansion: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// Compressed bytes that are expanded on the event loop: they become a few megabytes at most.
  private static let briefMessage = 4 << 10
  /// The most bytes that a byte of deflate can become.
  private static let greatestExpansion = 1_032

  private let streamGuard: StreamGuard
  private var hasHeaders = false
  /// The bytes of messages that were not passed on, the first from its beginning. ``StreamGuard`` has counted them.
  private var waiting = ByteBuffer()
  /// Whether the library has asked for more.
  private var isAsked = false
  /// Whether a message is being expanded or passed on.
  private var isBusy = false
  private var hasEnded = false
  /// Whether nothing further is passed on.
  private var isOver = false

  init(_ streamGuard: StreamGuard) { self.streamGuard = streamGuard }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(var frame) where !hasHeaders:
      hasHeaders = true
      if streamGuard.encoding != nil { frame.headers.remove(name: "grpc-encoding") }
      let isEnd = frame.endStream
      frame.endStream = false
      context.fireChannelRead(wrapInboundOut(.headers(frame)))
      if isEnd { passEnd(context) }
    case .data(let frame) where streamGuard.encoding != nil:
      guard case .byteBuffer(let bytes) = frame.data else { return }
      waiting.writeImmutableBuffer(bytes)
      hasEnded = hasEnded || frame.endStream
    default: context.fireChannelRead(data)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    // No frame follows whose reading would ask for what waits.
    if hasEnded, !isBusy { context.channel.read() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { isOver = true }

  func read(context: ChannelHandlerContext) {
    guard streamGuard.encoding != nil, !isOver else { return context.read() }
    isAsked = true
    passNext(context)
  }

  /// Passes on the next message, or asks for more frames.
  private func passNext(_ context: ChannelHandlerContext) {
    while isAsked, !isBusy, !isOver {
      isAsked = false
      if let message = nextMessage() {
        isBusy = true
        expand(message, context)
      } else if hasEnded {
        passEnd(context)
        context.fireChannelReadComplete()
      } else {
        context.read()
      }
    }
  }

  /// The next whole message; nil if it has not come.
  private func nextMessage() -> (isCompressed: Bool, bytes: ByteBuffer)? {
    let start = waiting.readerIndex
    guard let flag = waiting.getInteger(at: start, as: UInt8.self),
      let length = waiting.getInteger(at: start + 1, as: UInt32.self),
      waiting.readableBytes >= 5 + Int(length)
    else { return nil }
    waiting.moveReaderIndex(forwardBy: 5)
    let bytes = waiting.readSlice(length: Int(length)) ?? ByteBuffer()
    if waiting.readableBytes == 0 { waiting = ByteBuffer() } else { waiting.discardReadBytes() }
    return (flag == 1, bytes)
  }

  private func expand(_ message: (isCompressed: Bool, bytes: ByteBuffer), _ context: ChannelHandlerContext) {
    let (packed, limit) = (message.bytes, streamGuard.limits.message)
    let size = packed.readableBytes
    guard message.isCompressed, let encoding = streamGuard.encoding else {
      var frame = ByteBufferAllocator().buffer(capacity: Self.prefixLength + size)
      Self.writePrefix(size, &frame)
      frame.writeImmutableBuffer(packed)
      return pass(.success(frame), counted: size, context)
    }
    let (most, overflows) = size.multipliedReportingOverflow(by: Self.greatestExpansion)
    let room = overflows ? limit : min(most, limit)
    do throws(ServingError) { try streamGuard.messages?.take(room) } catch {
      return pass(.failure(error), counted: 0, context)
    }
    let expand = { @Sendable () -> Result<ByteBuffer, ServingError> in
      Result { () throws(ServingError) in
        try encoding.decompressed(packed, behind: Self.prefixLength, limit: limit, Self.writePrefix)
      }
    }
    let counted = size + room
    guard size > Self.briefMessage else { return pass(expand(), counted: counted, context) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) {
      expand()
    }.whenComplete { result in
      let (expansion, context) = bound.value
      // The pool takes no work when the process ends.
      let ending = Result<ByteBuffer, ServingError>.failure(
        .init(.unavailable, "the server is shutting down"))
      expansion.pass((try? result.get()) ?? ending, counted: counted, context)
      expansion.passNext(context)
    }
  }

  private static let prefixLength = 5

  /// Writes the prefix of a plain message.
  private static func writePrefix(_ size: Int, _ frame: inout ByteBuffer) {
    frame.writeInteger(0, as: UInt8.self)
    frame.writeInteger(UInt32(size))
  }

  /// Passes on a plain message, or ends the call.
  ///
  /// - Parameters:
  ///   - result: The message with its prefix.
  ///   - counted: The bytes that are taken for it.
  private func pass(
    _ result: Result<ByteBuffer, ServingError>, counted: Int, _ context: ChannelHandlerContext
  ) {
    defer { isBusy = false }
    guard !isOver else { return }
    do throws(ServingError) {
      let frame = try result.get()
      try streamGuard.messages?.endMessage(of: counted, as: frame.readableBytes)
      // The library keeps what it has read until more comes: an empty frame takes a large one's place.
      for bytes in [frame, ByteBuffer()] {
        context.fireChannelRead(wrapInboundOut(.data(.init(data: .byteBuffer(bytes)))))
      }
      context.fireChannelReadComplete()
      // The library says whether it would have more: reading passes through it.
      context.channel.read()
    } catch {
      isOver = true
      context.triggerUserOutboundEvent(StreamGuard.End(error), promise: nil)
    }
  }

  private func passEnd(_ context: ChannelHandlerContext) {
    isOver = true
    context.fireChannelRead(wrapInboundOut(.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))))
  }
}
