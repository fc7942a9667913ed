// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore
import NIOHTTP1

/// Keeps the rules of HTTP/1 on one connection: what is a request, how fast its body comes, when the connection ends, and how.
///
/// ```
/// bytes ⇄ parser ⇄ HTTP1Handler ⇄ requests and answers
/// ```
///
/// A connection ends after an answer if the client asked for it (every client of HTTP/1.0 does, unless it asks to keep it), if the
/// answer came before the end of its request, or if what was sent is no request. First the sending side is closed; what still
/// comes in is read over, for some time, because closing a socket with unread bytes would reset it, and a reset destroys the
/// answer on its way.
final class HTTP1Handler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// A request whose answer is not yet written.
  private struct Exchange {
    var version: HTTPVersion
    var keepsAlive: Bool
    /// Whether its answer has no body, whatever its head says.
    var isHead = false
    let arrival = NIODeadline.now()
  }

  private enum State {
    /// Requests come and go.
    case open
    /// Something came that is no request: nothing further is read, and the answer says why.
    case refused
    /// The last answer is being written.
    case ending
    /// The last answer is written: what comes is read over.
    case draining
  }

  /// How long what comes after the last answer is read over, and how many bytes of it: many clients look for an answer only when
  /// they have sent everything.
  private static let longestDrain = TimeAmount.seconds(30)
  private static let maximumDrained = 64 << 20
  /// How long a connection stays open after its last answer if no rest of a request is to come, or the server ends.
  private static let briefDrain = TimeAmount.seconds(2)
  /// The limit of a body's framing (chunk sizes, chunk extensions and trailers): `minimumFraming` bytes, and `framingOfByte` more for
  /// each byte of data.
  private static let framingOfByte = 16
  private static let minimumFraming = 128 << 10

  private let received: ReceivedBytes
  /// How long a request may take to come; nil for any time.
  private let deadline: TimeAmount?

  private var state = State.open
  /// The requests without an answer, the oldest first. The last one may still be coming in.
  private var waiting = CircularBuffer<Exchange>()
  /// Whether a request has begun and not ended.
  private var isReading = false
  private var refusal: Refusal?
  /// Whether parts of an answer are dropped: it has no request, or another was written in its place.
  private var dropsAnswer = false
  private var endsAfterAnswer = false
  /// Whether the answer is that to a HEAD request whose body would be chunked: the encoder must not write the end of its chunks.
  private var isChunkedHead = false
  private var isQuiescing = false
  private var drained = 0
  private var end: Scheduled<Void>?

  private var readBytes = 0
  /// The bytes that had come when the request began, and those of its body's data so far.
  private var receivedBefore = 0
  private var bodyBytes = 0
  private var bodyDeadline: Scheduled<Void>?
  private var bodyPace: RepeatedTask?
  private var writtenBytes = 0
  /// The written bytes that the client had taken at the beginning of the window.
  private var takenBytes = 0
  private var answerPace: RepeatedTask?
  private var answerDeadline: Scheduled<Void>?
  /// When each answer began that is not yet written to the socket in full, the oldest first; nil for one without an end.
  private var answerStarts = CircularBuffer<NIODeadline?>()
  /// The number of answers that are not yet written to the socket in full.
  private var unsentAnswers = 0
  /// The memory of what the system does not take because the client does not.
  private var unsent: TakenMemory

  init(_ received: ReceivedBytes, deadline: TimeAmount?, _ admission: Admission) {
    self.received = received
    self.deadline = deadline
    unsent = TakenMemory(admission)
  }

  func handlerRemoved(context: ChannelHandlerContext) { stopTimers() }

  func channelInactive(context: ChannelHandlerContext) {
    stopTimers()
    context.fireChannelInactive()
  }

  private func stopTimers() {
    end?.cancel()
    stopWatchingBody()
    stopWatchingAnswer()
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard state == .open else {
      switch unwrapInboundIn(data) {
      case .body(let bytes): drain(bytes.readableBytes, context)
      case .end:
        isReading = false
        if state == .draining { closeSoon(context) }
      case .head: break
      }
      return
    }
    switch unwrapInboundIn(data) {
    case .head(let head):
      isReading = true
      receivedBefore = received.count
      received.endHead()
      bodyBytes = 0
      // The parser expects no request after a CONNECT or an upgrade. This server accepts neither.
      let isLast = head.method == .CONNECT || head.headers.contains(name: "Upgrade")
      waiting.append(
        Exchange(
          version: head.version, keepsAlive: head.isKeepAlive && !isLast, isHead: head.method == .HEAD))
      if let refusal = Refusal(of: head) {
        refuse(refusal, context)
      } else {
        context.fireChannelRead(data)
      }
    case .body(let bytes):
      readBytes += bytes.readableBytes
      bodyBytes += bytes.readableBytes
      context.fireChannelRead(data)
    case .end:
      isReading = false
      received.endRequest()
      stopWatchingBody()
      context.fireChannelRead(data)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if state == .open, isReading {
      let framing = received.count - receivedBefore - bodyBytes
      if framing > Self.minimumFraming + Self.framingOfByte * bodyBytes {
        refuse(
          Refusal(.badRequest, "chunks and trailers take \(framing) bytes beside \(bodyBytes) of the body"),
          context)
      }
    }
    if state == .open {
      do throws(ServingError) { try received.countHead() } catch {
        refuseNext(Refusal(.serviceUnavailable, error.message), context)
      }
    }
    watchBodyOfNext(context)
    // No other handler requests reads while the connection drains.
    if state == .draining { context.read() }
    context.fireChannelReadComplete()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    guard state == .open else { return }
    refuseNext(Refusal(error), context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event {
      // Nothing can come any more: nothing is lost by closing.
      isReading = false
      if state == .draining { context.close(mode: .all, promise: nil) }
    } else if event is ChannelShouldQuiesceEvent {
      isQuiescing = true
      if state == .draining { closeSoon(context) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Refuses the request that comes, whether its head is there or not.
  private func refuseNext(_ refusal: Refusal, _ context: ChannelHandlerContext) {
    if !isReading {
      isReading = true
      waiting.append(Exchange(version: .http1_1, keepsAlive: false))
    }
    refuse(refusal, context)
  }

  /// Ends the reading of requests; who waits for more of them hears of an error, and writes an answer, which is replaced by the
  /// refusal.
  private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
    guard state == .open else { return }
    stopWatchingBody()
    state = .refused
    self.refusal = refusal
    if waiting.isEmpty {
      // The answer was written before the request was there as a whole.
      beginDrain(context)
    } else {
      context.fireErrorCaught(HTTPParserError.unknown)
    }
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head) where head.status.code < 200:
      // A client of HTTP/1.0 would take it for the answer.
      guard waiting.count == 1, isReading, waiting[waiting.startIndex].version != .http1_0 else {
        promise?.succeed()
        return
      }
      context.write(data, promise: promise)
    case .head(let head): writeHead(head, context, promise)
    case .body(let bytes):
      guard !dropsAnswer else {
        promise?.succeed()
        return
      }
      writtenBytes += bytes.readableBytes
      context.write(data, promise: promise)
    case .end:
      guard !dropsAnswer else {
        dropsAnswer = false
        promise?.succeed()
        return
      }
      writeEnd(data, context, promise)
    }
  }

  private func writeHead(
    _ head: HTTPResponseHead, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    guard let exchange = waiting.first else {
      dropsAnswer = true
      promise?.succeed()
      return
    }
    let isReadingThis = isReading && waiting.count == 1
    if let refusal, waiting.count == 1, head.status == .badRequest,
      !head.headers.contains(name: "Content-Type")
    {
      // The answer that the library writes after an error of the parser has no body.
      dropsAnswer = true
      endsAfterAnswer = true
      let (head, body) = refusal.answer
      context.write(wrapOutboundOut(.head(head)), promise: exchange.isHead ? promise : nil)
      if !exchange.isHead { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: promise) }
      answerStarts.append(.now())
      writeEnd(wrapOutboundOut(.end(nil)), context, nil)
      return
    }
    stopWatchingBody()
    // An answer without a length goes on for as long as its camera.
    answerStarts.append(head.headers.contains(name: "Content-Length") ? .now() : nil)
    isChunkedHead =
      exchange.isHead && head.status.mayHaveResponseBody && !head.headers.contains(name: "Content-Length")
    endsAfterAnswer =
      !exchange.keepsAlive || isQuiescing || isReadingThis || (refusal != nil && waiting.count == 1)
    var head = head
    head.headers.remove(name: "Connection")
    if endsAfterAnswer {
      head.headers.add(name: "Connection", value: "close")
    } else if exchange.version == .http1_0 {
      head.headers.add(name: "Connection", value: "keep-alive")
    }
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }

  private func writeEnd(_ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?)
  {
    waiting.removeFirst()
    let promise = promise ?? context.eventLoop.makePromise()
    if endsAfterAnswer { state = .ending }
    watchBodyOfNext(context)
    unsentAnswers += 1
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    promise.futureResult.whenComplete { _ in
      let (handler, context) = bound.value
      handler.unsentAnswers -= 1
      _ = handler.answerStarts.popFirst()
      handler.countUnsent(context)
      guard handler.unsentAnswers == 0 else { return }
      handler.stopWatchingAnswer()
      if handler.state == .ending { handler.beginDrain(context) }
    }
    let nothing = wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))
    context.writeAndFlush(isChunkedHead ? nothing : data, promise: promise)
    isChunkedHead = false
    if unsentAnswers > 0 {
      watchAnswer(context)
      countUnsent(context)
    }
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    if unsent.count > 0 || !context.channel.isWritable { countUnsent(context) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if !context.channel.isWritable { watchAnswer(context) }
    countUnsent(context)
    context.fireChannelWritabilityChanged()
  }

  /// Counts what was written and is not with the system.
  private func countUnsent(_ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    do throws(ServingError) {
      try unsent.change(to: unsentBytes(of: context.channel))
    } catch {
      // Others need the memory, and this client does not take what it has asked for.
      context.close(mode: .all, promise: nil)
    }
  }

  // MARK: The end

  private func beginDrain(_ context: ChannelHandlerContext) {
    guard state != .draining, context.channel.isActive else { return }
    state = .draining
    stopTimers()
    closeSoon(context)
    context.close(mode: .output, promise: nil)
    context.read()
  }

  private func closeSoon(_ context: ChannelHandlerContext) {
    end?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    end = context.eventLoop.scheduleTask(in: isReading && !isQuiescing ? Self.longestDrain : Self.briefDrain)
    {
      bound.value.close(mode: .all, promise: nil)
    }
  }

  private func drain(_ bytes: Int, _ context: ChannelHandlerContext) {
    drained += bytes
    if drained > Self.maximumDrained { context.close(mode: .all, promise: nil) }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode == .output, state == .open, unsentAnswers > 0 { state = .ending }
    if mode != .input, state == .ending || state == .draining {
      // Closing now would cut the answer off, or reset the connection before it has arrived: `beginDrain` closes in time.
      if let promise { context.channel.closeFuture.cascade(to: promise) }
    } else {
      context.close(mode: mode, promise: promise)
    }
  }

  // MARK: Pace

  /// Watches the body of the request that is answered next: others wait for the server, too.
  private func watchBodyOfNext(_ context: ChannelHandlerContext) {
    guard state == .open, isReading, waiting.count == 1, bodyPace == nil else { return }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    if let deadline {
      let end = waiting[waiting.startIndex].arrival + deadline
      bodyDeadline = context.eventLoop.scheduleTask(deadline: end) {
        bound.value.0.refuse(
          Refusal(.gatewayTimeout, "the deadline passed before the body was there"), bound.value.1)
      }
    }
    readBytes = 0
    bodyPace = context.eventLoop.scheduleRepeatedTask(initialDelay: Pace.window, delay: Pace.window) { _ in
      let (handler, context) = bound.value
      let bytes = handler.readBytes
      handler.readBytes = 0
      guard bytes < Pace.minimumBytes else { return }
      handler.refuse(Refusal(.requestTimeout, "\(bytes) bytes of the body came in 30 seconds"), context)
    }
  }

  private func stopWatchingBody() {
    bodyDeadline?.cancel()
    bodyDeadline = nil
    bodyPace?.cancel()
    bodyPace = nil
  }

  /// Watches how fast the client takes its answers, once one does not fit into the system's buffers.
  private func watchAnswer(_ context: ChannelHandlerContext) {
    guard answerPace == nil else { return }
    takenBytes = takenBytes(of: context.channel)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    answerPace = context.eventLoop.scheduleRepeatedTask(initialDelay: Pace.window, delay: Pace.window) { _ in
      let (handler, context) = bound.value
      let taken = handler.takenBytes(of: context.channel)
      let isSlow = taken < handler.writtenBytes && taken - handler.takenBytes < Pace.minimumBytes
      handler.takenBytes = taken
      if isSlow { context.close(mode: .all, promise: nil) }
    }
    watchOldestAnswer(context)
  }

  /// Ends the connection if the client takes its oldest answer for too long.
  private func watchOldestAnswer(_ context: ChannelHandlerContext) {
    guard let longest = Pace.longestAnswer(deadline) else { return }
    let end = ((answerStarts.first ?? nil) ?? .now()) + longest
    guard end > .now() else { return context.close(mode: .all, promise: nil) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    answerDeadline = context.eventLoop.scheduleTask(deadline: end) {
      bound.value.0.watchOldestAnswer(bound.value.1)
    }
  }

  /// The bytes of bodies that were written and are with the system.
  private func takenBytes(of channel: any Channel) -> Int { writtenBytes - unsentBytes(of: channel) }

  /// The bytes that were written and are not with the system.
  private func unsentBytes(of channel: any Channel) -> Int {
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  private func stopWatchingAnswer() {
    answerPace?.cancel()
    answerPace = nil
    answerDeadline?.cancel()
    answerDeadline = nil
  }
}
