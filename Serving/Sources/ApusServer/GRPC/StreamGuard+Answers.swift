// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The writing side of a call: answers in pieces, which count until the client has taken them, and the status
/// of a call that breaks a limit.
extension StreamGuard {
  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let frame = unwrapOutboundIn(data)
    // The library writes more when it hears that the stream is full, which it may hear between two pieces.
    guard !isWriting else { return delayed.append((frame, promise)) }
    write(frame, context, promise)
  }

  func flush(context: ChannelHandlerContext) {
    if isWriting { flushesLater = true } else { context.flush() }
  }

  private func write(
    _ frame: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    switch frame {
    case .headers(let headers):
      hasAnswerHeaders = true
      if headers.endStream {
        hasStatus = true
        callDeadline?.cancel()
        messageDeadline?.cancel()
      }
      var headers = headers
      Self.keepMessageOutOfTable(&headers.headers)
      write(.headers(headers), of: 1, context, promise)
    case .data(let data):
      guard case .byteBuffer(let bytes) = data.data, bytes.readableBytes > 0 else {
        return context.write(wrapOutboundOut(frame), promise: promise)
      }
      writeMessage(data, bytes, context, promise)
    case .rstStream:
      hasStatus = true
      context.write(wrapOutboundOut(frame), promise: promise)
    default: context.write(wrapOutboundOut(frame), promise: promise)
    }
  }

  /// Writes a message in pieces; it counts until the client has taken all of it.
  private func writeMessage(
    _ frame: HTTP2Frame.FramePayload.Data, _ bytes: ByteBuffer, _ context: ChannelHandlerContext,
    _ promise: EventLoopPromise<Void>?
  ) {
    let size = bytes.readableBytes
    guard !isEnded else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    do throws(ServingError) { try memory.take(size) } catch {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return end(error, context)
    }
    answerStarts.append(.now())
    let promise = promise ?? context.eventLoop.makePromise()
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    promise.futureResult.whenComplete { _ in
      bound.value.memory.release(size)
      _ = bound.value.answerStarts.popFirst()
    }
    var rest = bytes
    isWriting = true
    while rest.readableBytes > Self.pieceSize, let piece = rest.readSlice(length: Self.pieceSize) {
      write(.data(.init(data: .byteBuffer(piece))), of: piece.readableBytes, context, nil)
    }
    var last = frame
    last.data = .byteBuffer(rest)
    write(.data(last), of: rest.readableBytes, context, promise)
    isWriting = false
    while let next = delayed.popFirst() { write(next.frame, context, next.promise) }
    if flushesLater, !isWriting {
      flushesLater = false
      context.flush()
    }
  }

  /// Writes what counts for the rate until the client has taken it.
  private func write(
    _ frame: HTTP2Frame.FramePayload, of size: Int, _ context: ChannelHandlerContext,
    _ promise: EventLoopPromise<Void>?
  ) {
    unsentBytes += size
    let promise = promise ?? context.eventLoop.makePromise()
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    promise.futureResult.whenComplete { _ in
      bound.value.unsentBytes -= size
      bound.value.sentBytes += size
    }
    context.write(wrapOutboundOut(frame), promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    // The library closes a stream whose messages it cannot read, without a status.
    if mode == .all, !hasStatus, hasHeaders, let failure { end(failure.code, failure.message, context) }
    context.close(mode: mode, promise: promise)
  }

  /// Asks the guard to end the call with an error's status.
  struct End {
    let error: ServingError

    init(_ error: ServingError) { self.error = error }
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let event = event as? End else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    end(event.error, context)
    promise?.succeed()
  }

  func end(_ error: ServingError, _ context: ChannelHandlerContext) {
    let status = RPCError(error)
    end(status.code, status.message, context)
  }

  /// Ends the call with a status.
  func end(_ code: RPCError.Code, _ message: String, _ context: ChannelHandlerContext) {
    guard !hasStatus else { return }
    hasStatus = true
    isEnded = true
    stopTimers()
    var frame = HTTP2Frame.FramePayload.Headers(headers: [:], endStream: true)
    if !hasAnswerHeaders {
      frame.headers.add(name: ":status", value: "200")
      frame.headers.add(name: "content-type", value: "application/grpc")
    }
    frame.headers.add(name: "grpc-status", value: String(code.rawValue))
    frame.headers.add(name: "grpc-message", value: Self.percentEncoded(message))
    Self.keepMessageOutOfTable(&frame.headers)
    context.write(wrapOutboundOut(.headers(frame)), promise: nil)
    if isInboundEnded {
      context.flush()
    } else {
      context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: nil)
    }
    context.close(mode: .all, promise: nil)
  }

  /// Keeps an error's text out of the table of HPACK: the client chooses how large the table is, and what many texts say.
  private static func keepMessageOutOfTable(_ headers: inout HPACKHeaders) {
    guard let text = headers.first(name: "grpc-message") else { return }
    headers.remove(name: "grpc-message")
    headers.add(name: "grpc-message", value: text, indexing: .nonIndexable)
  }

  /// A message as the protocol writes it: printable ASCII, everything else as `%XX`.
  private static func percentEncoded(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += byte < 16 ? "%0\(digits)" : "%\(digits)"
      }
    }
  }

  /// Ends a call whose client does not take its answers: a status would wait behind them.
  func giveUp(_ context: ChannelHandlerContext) {
    guard !isEnded else { return }
    isEnded = true
    hasStatus = true
    context.writeAndFlush(wrapOutboundOut(.rstStream(.cancel)), promise: nil)
    context.close(mode: .all, promise: nil)
  }
}
