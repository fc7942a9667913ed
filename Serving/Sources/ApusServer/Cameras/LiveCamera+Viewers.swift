// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusServing
import NIOCore
import NIOPosix
import Synchronization

/// Looking on: pictures and events for viewers.
extension LiveCamera {
  /// The newest picture, if there is one.
  var newest: Shot? { state.withLock(\.shot) }

  /// The result of a viewer's wait.
  enum Sight {
    case shot(Shot)
    /// No picture for some time: the source is silent, or has failed and is tried again.
    case nothing
    /// The camera has ended.
    case over
  }

  /// Waits for a picture that is newer than one with a number, for some time.
  func sight(after number: Int) async -> Sight {
    if let sight = sightNow(after: number) { return sight }
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.isOver || (state.shot?.number ?? 0) > number { return true }
        state.waiting.append(continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
    return sightNow(after: number) ?? .nothing
  }

  private func sightNow(after number: Int) -> Sight? {
    state.withLock { state in
      if let shot = state.shot, shot.number > number { return .shot(shot) }
      return state.isOver ? .over : nil
    }
  }

  /// Lets viewers go on who wait for a picture.
  func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// A picture with its objects as a JPEG file, encoded once for all who ask; nil if that fails.
  func jpeg(of shot: Shot) async -> ByteBuffer? {
    let task = state.withLock { state in
      if let encoding = state.encoding, encoding.number == shot.number { return encoding.task }
      let task = Task { () -> ByteBuffer? in
        try? await NIOThreadPool.singleton.runIfActive { () throws(ApusError) -> ByteBuffer in
          let detections = shot.objects.map { object in
            var detection = object.detection
            if let track = object.track {
              detection.category.displayName = "\(detection.category.name) \(track)"
            }
            return detection
          }
          return ByteBuffer(bytes: try shot.picture.drawing(detections).encoded(as: .jpeg, quality: 80))
        }
      }
      state.encoding = (shot.number, task)
      return task
    }
    return await task.value
  }

  /// Lets one more look on; ``leave()`` must follow.
  func enter() throws(ServingError) {
    let refusal = state.withLock { state -> ServingError? in
      if state.isOver { return hasEnded }
      guard state.viewers < Self.maximumViewers else {
        return ServingError(
          .unavailable, "the camera has \(Self.maximumViewers) viewers, the most that it may")
      }
      state.viewers += 1
      return nil
    }
    if let refusal { throw refusal }
  }

  func leave() { state.withLock { $0.viewers -= 1 } }

  /// Frames and events from now on, as server-sent events. A listener that is slow misses the oldest: their numbers are missing.
  ///
  /// - Returns: The messages, and the number of the first line.
  func events() -> (messages: AsyncStream<Message>, first: Int) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Message.self, bufferingPolicy: .bufferingNewest(Self.listenerBacklog))
    let (number, first): (Int?, Int) = state.withLock { state in
      guard !state.isOver else { return (nil, state.told) }
      defer { state.nextListener += 1 }
      state.listeners[state.nextListener] = continuation
      return (state.nextListener, state.told)
    }
    guard let number else {
      continuation.finish()
      return (stream, first)
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return (stream, first)
  }
}
