// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore
import NIOCore
import NIOHTTP2

/// Keeps the limits of one call of gRPC: the size of its metadata and messages, its memory, how fast both directions go, and its
/// deadline.
///
/// ```
/// frames of one stream ⇄ StreamGuard ⇄ the library's handler ⇄ the call
/// ```
///
/// A call that breaks a limit ends with a status. The connection and its other calls go on.
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
  /// The bytes that a client may send on a stream before the call takes them.
  static let windowSize = 1 << 20
  /// The bytes that a call takes beside its messages: buffers, tasks, states of the library.
  private static let callCost = 32 << 10
  /// The bytes that the library may keep of a call that takes nothing: streams that were open when the client
  /// heard of the window have two.
  private static let waitingCost = 2 * windowSize
  /// The bytes of an answer that go to HTTP/2 at a time, so that the rate shows.
  static let pieceSize = 64 << 10
  let limits: Limits
  private let calls: OpenCalls
  /// The memory of this call's messages until it takes them; nil before its headers.
  private(set) var messages: IncomingMessages?
  var hasHeaders = false
  private var hasEncoding = false
  /// How messages are compressed; nil for calls whose messages are not, or in a way that the library will refuse.
  private(set) var encoding: Compression?
  /// Whether several messages may come, at any time.
  private var isStream = false
  var isInboundEnded = false
  /// Whether a status is on its way, or the stream has ended without one.
  var hasStatus = false
  var hasAnswerHeaders = false
  /// Whether a limit was broken: nothing further is read.
  var isEnded = false
  /// Why the library closes the stream.
  var failure: RPCError?
  var callDeadline: Scheduled<Void>?

  private var prefix: [UInt8] = []
  private var missing = 0
  /// Whether a whole message has come.
  private var hasMessage = false
  /// The bytes of the latest message.
  private var messageBytes = 0
  /// Whether the call takes what comes: where it does not, waiting for it is not the client's fault.
  private var isReading = false
  private var readBytes = 0
  var messageDeadline: Scheduled<Void>?

  /// The memory of the call itself, of what it does not take, and of its answers.
  var memory: TakenMemory
  /// Whether ``callCost`` and ``waitingCost`` are taken.
  private var countsCall = false
  private var isWaiting = false
  var unsentBytes = 0
  var sentBytes = 0
  /// Whether something was unsent at the beginning of the window, too.
  private var wasUnsent = false
  private var pace: RepeatedTask?
  /// Whether a message is being written in pieces, and what is written and flushed after it.
  var isWriting = false
  var delayed = CircularBuffer<(frame: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>?)>()
  var flushesLater = false
  /// When each message was written that the client has not taken, the oldest first.
  var answerStarts = CircularBuffer<NIODeadline>()

  init(_ limits: Limits, _ calls: OpenCalls) {
    self.limits = limits
    self.calls = calls
    memory = TakenMemory(calls.admission)
  }

  /// Adds a guard to a stream: before the library's handler, and after it for the errors that it finds.
  static func add(to channel: any Channel, _ limits: Limits, _ calls: OpenCalls) throws {
    let streamGuard = StreamGuard(limits, calls)
    try channel.pipeline.syncOperations.addHandler(streamGuard, position: .first)
    try channel.pipeline.syncOperations.addHandler(
      MessageExpansion(streamGuard), position: .after(streamGuard))
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
    // The memory of written frames is given back when HTTP/2 lets go of them.
    if countsCall { memory.release(Self.callCost) }
    if isWaiting { memory.release(Self.waitingCost) }
    (countsCall, isWaiting) = (false, false)
    guard let messages else { return }
    calls.close(messages)
    self.messages = nil
  }

  func stopTimers() {
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
      let encodings = frame.headers["grpc-encoding"]
      hasEncoding = encodings.contains { $0 != "identity" }
      encoding = encodings.count == 1 ? Compression(rawValue: encodings[0]) : nil
      isStream = frame.headers.contains { $0.name == ":path" && $0.value.hasSuffix("/ModelStreamInfer") }
      do throws(ServingError) {
        try memory.take(Self.callCost)
        countsCall = true
      } catch { return end(error, context) }
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

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    guard !isInboundEnded, !isEnded, !isReading else { return }
    // A call that goes on reads before this turn of the loop ends.
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.execute { bound.value.0.countWaiting(bound.value.1) }
  }

  func read(context: ChannelHandlerContext) {
    isReading = true
    if isWaiting {
      isWaiting = false
      memory.release(Self.waitingCost)
    }
    context.read()
  }

  /// Counts what the library may keep while the call takes nothing: it does not pass here.
  private func countWaiting(_ context: ChannelHandlerContext) {
    guard !isReading, !isWaiting, !isInboundEnded, !isEnded, !hasStatus else { return }
    do throws(ServingError) {
      try memory.take(Self.waitingCost)
      isWaiting = true
    } catch { end(error, context) }
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
      messageBytes = missing
      if missing == 0, let refusal = take(0) { return refusal }
    }
    return nil
  }

  /// Takes the memory of a message's bytes. ``MessageExpansion`` ends messages that it may expand.
  private func take(_ count: Int) -> (RPCError.Code, String)? {
    do throws(ServingError) {
      try messages?.take(count)
      guard missing == 0 else { return nil }
      if encoding == nil { try messages?.endMessage(of: messageBytes, as: messageBytes) }
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

  // MARK: Time

  private func watchCall(_ timeout: CallTimeout, _ context: ChannelHandlerContext) {
    guard let amount = timeout.amount else { return }
    let late = "the deadline of \(timeout.description) passed"
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
    pace = context.eventLoop.scheduleRepeatedTask(initialDelay: Pace.window, delay: Pace.window) { _ in
      bound.value.0.checkPace(bound.value.1)
    }
  }

  private func checkPace(_ context: ChannelHandlerContext) {
    let (read, sent) = (readBytes, sentBytes)
    (readBytes, sentBytes) = (0, 0)
    if missing > 0, isReading, read < Pace.minimumBytes {
      end(.deadlineExceeded, "\(read) bytes of a message came in 30 seconds", context)
    } else if unsentBytes > 0, wasUnsent, sent < Pace.minimumBytes {
      giveUp(context)
    } else if let start = answerStarts.first, let longest = Pace.longestAnswer(limits.deadline),
      start + longest < .now()
    {
      giveUp(context)
    }
    wasUnsent = unsentBytes > 0
  }
}
