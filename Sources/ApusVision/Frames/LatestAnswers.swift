// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The results of ``LatestFrames`` for the frames of a sequence, and the sequence's error after them.
package struct LatestAnswers<Answer: VisionResult, Failure: Error>: AsyncSequence, Sendable {
  private let results: AsyncStream<FrameResult<Answer>>
  private let pump: FramePump<Failure>

  package typealias Element = FrameResult<Answer>

  /// - Parameter picture: The picture of an element, and its time.
  package init<Asked: VisionTask, Frames: AsyncSequence & Sendable>(
    _ latest: LatestFrames<Asked>, to frames: Frames,
    picture: @escaping @Sendable (Frames.Element) -> (ImageBuffer, Double?)
  ) where Asked.Answer == Answer, Frames.Failure == Failure {
    // The pump lives as long as the sequence that the reader has: `results` itself is kept by the pump's task.
    results = latest.results
    let error = PumpError<Failure>()
    pump = FramePump(
      error,
      Task.detached {
        do throws(Failure) {
          for try await frame in frames {
            // A sequence need not end when its reader is cancelled.
            if Task.isCancelled { break }
            let (image, time) = picture(frame)
            latest.submit(image, at: time)
          }
        } catch let failure { error.value.withLock { $0 = failure } }
        latest.finish()
      })
  }

  package func makeAsyncIterator() -> Iterator { Iterator(results: results.makeAsyncIterator(), pump: pump) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var results: AsyncStream<FrameResult<Answer>>.Iterator
    fileprivate let pump: FramePump<Failure>

    package mutating func next() async throws(Failure) -> FrameResult<Answer>? {
      try await next(isolation: nil)
    }

    package mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> FrameResult<
      Answer
    >? {
      if let result = await results.next(isolation: actor) { return result }
      // The frames have ended, or the reader was cancelled; a cancelled source's error is none of the reader's.
      let error = pump.takeError()
      pump.cancel()
      if let error { throw error }
      return nil
    }
  }
}

/// The error that ended the frames, until the reader has it.
private final class PumpError<Failure: Error>: Sendable {
  let value = Mutex<Failure?>(nil)
}

/// The task that submits frames. It is cancelled with the last reference.
private final class FramePump<Failure: Error>: Sendable {
  private let error: PumpError<Failure>
  private let task: Task<Void, Never>

  init(_ error: PumpError<Failure>, _ task: Task<Void, Never>) { (self.error, self.task) = (error, task) }

  deinit { task.cancel() }

  func cancel() { task.cancel() }

  func takeError() -> Failure? {
    error.value.withLock { error in
      defer { error = nil }
      return error
    }
  }
}
