// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Keeps the limits of one call of gRPC: the size of its metadata and messages, how fast both directions go, and its deadline.
///
/// ```
/// frames of one stream ⇄ StreamGuard ⇄ the library's handler ⇄ the call
/// ```
///
/// What breaks a limit ends its call with a status. The connection and its other calls go on.
final class StreamGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// The limits that the operator chooses.
  struct Limits {
    /// The maximum number of bytes of a message.
    var message: Int
    /// How long a message may take to come; nil for any time.
    var deadline: TimeAmount?
  }

  /// The maximum number of bytes of a call's metadata, as HTTP/2 counts them.
  private static let longestMetadata = 16 << 10
  /// The time over which the rate of messages is judged, and the fewest bytes a second.
  private static let window = TimeAmount.seconds(30)
  private static let leastRate = 4_096
  /// The most bytes that a byte of deflate can become.
  private static let greatestExpansion = 1_032

  private let limits: Limits
  private let calls: OpenCalls
  /// The memory of this call's messages until it takes them; nil before its headers.
  private var messages: IncomingMessages?
  private var hasHeaders = false
  private var hasEncoding = false
  /// Whether several messages may come, at any time.
  private var isStream = false
  private var isInboundEnded = false
  /// Whether a status is on its way, or the stream has ended without one.
  private var hasStatus = false
  private var hasAnswerHeaders = false
  /// Whether a limit was broken: nothing further is read.
  private var isEnded = false
  /// Why the library closes the stream.
  private var failure: RPCError?
  private var callDeadline: Scheduled<Void>?

  private var prefix: [UInt8] = []
  private var missing = 0
  /// Whether a whole message has come.
  private var hasMessage = false
  /// The bytes of the latest message, if it is compressed.
  private var compressedBytes = 0
  /// Whether the call takes what comes: where it does not, waiting for it is not the client's fault.
  private var isReading = false
  private var readBytes = 0
  private var messageDeadline: Scheduled<Void>?

  private var unsentBytes = 0
  private var sentBytes = 0
  /// Whether something was unsent at the beginning of the window, too.
  private var wasUnsent = false
  private var pace: RepeatedTask?

  init(_ limits: Limits, _ calls: OpenCalls) {
    self.limits = limits
    self.calls = calls
  }

  /// Adds a guard to a stream: before the library's handler, and after it for the errors that it finds.
  static func add(to channel: any Channel, _ limits: Limits, _ calls: OpenCalls) throws {
    let streamGuard = StreamGuard(limits, calls)
    try channel.pipeline.syncOperations.addHandler(streamGuard, position: .first)
    try channel.pipeline.syncOperations.addHandler(ErrorListener { streamGuard.failure = $0 })
  }

  private final class ErrorListener: ChannelInboundHandler {
    typealias InboundIn = Any
    private let body: (RPCError) -> Void

    init(_ body: @escaping (RPCError) -> Void) { self.body = body }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      if let error = error as? RPCError { body(error) }
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    stopTimers()
    closeCall()
  }

  func channelInactive(context: ChannelHandlerContext) {
    hasStatus = true
    stopTimers()
    closeCall()
    context.fireChannelInactive()
  }

  /// Gives back the memory of messages that the call will not take any more.
  private func closeCall() {
    guard let messages else { return }
    calls.close(messages)
    self.messages = nil
  }

  private func stopTimers() {
    callDeadline?.cancel()
    messageDeadline?.cancel()
    pace?.cancel()
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isReading = false
    guard !isEnded else { return }
    switch unwrapInboundIn(data) {
    case .headers(var frame) where !hasHeaders:
      hasHeaders = true
      isInboundEnded = frame.endStream
      let size = frame.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
      guard size <= Self.longestMetadata else {
        return end(
          .resourceExhausted, "the metadata takes \(size) bytes, more than \(Self.longestMetadata)", context)
      }
      hasEncoding = frame.headers.contains { $0.name == "grpc-encoding" && $0.value != "identity" }
      isStream = frame.headers.contains { $0.name == ":path" && $0.value.hasSuffix("/ModelStreamInfer") }
      let timeouts = frame.headers["grpc-timeout"]
      if let text = timeouts.first {
        guard timeouts.count == 1, let timeout = CallTimeout(text) else {
          return end(
            .invalidArgument, "grpc-timeout is '\(text.prefix(100))', not up to eight digits and a unit",
            context)
        }
        // The library is not told: it knows neither all timeouts nor the status that belongs to them.
        frame.headers.remove(name: "grpc-timeout")
        watchCall(timeout, context)
      }
      guard !isEnded else { return }
      let messages = calls.open()
      self.messages = messages
      frame.headers.replaceOrAdd(name: OpenCalls.header, value: messages.name)
      watchPace(context)
      if !isStream { watchMessage(context) }
      context.fireChannelRead(wrapInboundOut(.headers(frame)))
    case .headers(let frame):
      isInboundEnded = isInboundEnded || frame.endStream
      context.fireChannelRead(data)
    case .data(let frame):
      isInboundEnded = isInboundEnded || frame.endStream
      guard case .byteBuffer(let bytes) = frame.data else { return }
      readBytes += bytes.readableBytes
      if let (code, message) = follow(bytes, context) { return end(code, message, context) }
      if isInboundEnded, missing > 0 || !prefix.isEmpty {
        return end(.invalidArgument, "the call ends within a message", context)
      }
      if isInboundEnded { messageDeadline?.cancel() }
      context.fireChannelRead(data)
    default: context.fireChannelRead(data)
    }
  }

  func read(context: ChannelHandlerContext) {
    isReading = true
    context.read()
  }

  /// Follows the frames of messages: a byte that says whether it is compressed, four of its length, and the message.
  private func follow(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> (RPCError.Code, String)? {
    var bytes = bytes
    while bytes.readableBytes > 0 {
      if missing > 0 {
        let count = min(missing, bytes.readableBytes)
        bytes.moveReaderIndex(forwardBy: count)
        missing -= count
        if let refusal = take(count) { return refusal }
        continue
      }
      if prefix.isEmpty, isStream { watchMessage(context) }
      prefix += bytes.readBytes(length: min(5 - prefix.count, bytes.readableBytes)) ?? []
      guard prefix.count == 5 else { return nil }
      let isCompressed = prefix[0]
      missing = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
      prefix = []
      guard isCompressed <= 1 else {
        return (.invalidArgument, "a message begins with \(isCompressed), neither 0 nor 1 for compressed")
      }
      guard isCompressed == 0 || hasEncoding else {
        return (.invalidArgument, "a message is compressed, but the call has no grpc-encoding")
      }
      guard missing <= limits.message else {
        return (.resourceExhausted, "a message has \(missing) bytes, more than \(limits.message)")
      }
      compressedBytes = isCompressed == 1 ? missing : 0
      if missing == 0, let refusal = take(0) { return refusal }
    }
    return nil
  }

  /// Takes the memory of a message's bytes; of its last ones, also what the message may become when it is expanded.
  private func take(_ count: Int) -> (RPCError.Code, String)? {
    do throws(ServingError) {
      try messages?.take(count)
      guard missing == 0 else { return nil }
      // The library expands the message before the call takes it.
      let (expanded, overflows) = compressedBytes.multipliedReportingOverflow(by: Self.greatestExpansion)
      try messages?.endMessage(expandedTo: overflows ? limits.message : min(expanded, limits.message))
    } catch {
      let status = RPCError(error)
      return (status.code, status.message)
    }
    hasMessage = true
    // A call of one message holds it until the client has ended the call.
    if isStream {
      messageDeadline?.cancel()
      messageDeadline = nil
    }
    return nil
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var data = data
    let size: Int
    switch unwrapOutboundIn(data) {
    case .headers(var frame):
      Self.keepMessageOutOfTable(&frame.headers)
      data = wrapOutboundOut(.headers(frame))
      hasAnswerHeaders = true
      if frame.endStream {
        hasStatus = true
        callDeadline?.cancel()
        messageDeadline?.cancel()
      }
      size = 1
    case .data(let frame): size = frame.data.readableBytes
    case .rstStream:
      hasStatus = true
      size = 0
    default: size = 0
    }
    guard size > 0 else { return context.write(data, promise: promise) }
    unsentBytes += size
    let promise = promise ?? context.eventLoop.makePromise()
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    promise.futureResult.whenComplete { _ in
      bound.value.unsentBytes -= size
      bound.value.sentBytes += size
    }
    context.write(data, promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    // The library closes a stream whose messages it cannot read, without a status.
    if mode == .all, !hasStatus, hasHeaders, let failure {
      if compressedBytes > limits.message / Self.greatestExpansion {
        end(
          .resourceExhausted,
          "a compressed message is damaged, or has more than \(limits.message) bytes when it is expanded",
          context
        )
      } else {
        end(failure.code, failure.message, context)
      }
    }
    context.close(mode: mode, promise: promise)
  }

  /// Ends the call with a status.
  private func end(_ code: RPCError.Code, _ message: String, _ context: ChannelHandlerContext) {
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

  // MARK: Time

  private func watchCall(_ timeout: CallTimeout, _ context: ChannelHandlerContext) {
    guard let amount = timeout.amount else { return }
    let late = "the deadline of \(timeout.text) passed"
    guard amount > .zero else { return end(.deadlineExceeded, late, context) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    callDeadline = context.eventLoop.scheduleTask(in: amount) {
      bound.value.0.end(.deadlineExceeded, late, bound.value.1)
    }
  }

  /// Watches a message that has begun, or a call of one message, which must end in time, too.
  private func watchMessage(_ context: ChannelHandlerContext) {
    guard messageDeadline == nil, !isInboundEnded, let deadline = limits.deadline else { return }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    messageDeadline = context.eventLoop.scheduleTask(in: deadline) {
      let (streamGuard, context) = bound.value
      streamGuard.messageDeadline = nil
      // Where the call takes nothing, it has messages to answer first.
      guard streamGuard.isReading else { return streamGuard.watchMessage(context) }
      let isWhole = streamGuard.hasMessage && streamGuard.missing == 0 && streamGuard.prefix.isEmpty
      streamGuard.end(
        .deadlineExceeded,
        "the deadline passed before \(isWhole ? "the client ended the call" : "the message was there")",
        context)
    }
  }

  /// Watches both directions: a message that has begun must go on coming, an answer that has begun must be taken.
  private func watchPace(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    pace = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.window, delay: Self.window) { _ in
      bound.value.0.checkPace(bound.value.1)
    }
  }

  private func checkPace(_ context: ChannelHandlerContext) {
    let (read, sent) = (readBytes, sentBytes)
    (readBytes, sentBytes) = (0, 0)
    if missing > 0, isReading, read < Self.leastRate * 30 {
      end(.deadlineExceeded, "\(read) bytes of a message came in 30 seconds", context)
    } else if unsentBytes > 0, wasUnsent, sent < Self.leastRate * 30 {
      hasStatus = true
      context.writeAndFlush(wrapOutboundOut(.rstStream(.cancel)), promise: nil)
      context.close(mode: .all, promise: nil)
    }
    wasUnsent = unsentBytes > 0
  }
}
