// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision
import Dispatch
import Synchronization

/// Writes pictures to a video file through an ffmpeg process: H.264 if ffmpeg has an encoder for it, else MPEG-4.
///
/// ```swift
/// let writer = try VideoWriter("found.mp4", width: 640, height: 480, frameRate: 30)
/// for try await frame in source { try await writer.append(frame.picture(), at: frame.time) }
/// try await writer.finish()
/// ```
///
/// The file has a constant frame rate. A picture is shown from its time on: where there is none, the last one is repeated, and of
/// several for one frame the first stays. Without ``finish()``, the file is not complete.
public final class VideoWriter: Sendable {
  /// The size of the pictures.
  public let width, height: Int
  /// The frames per second of the file.
  public let frameRate: Double

  private let jobs = Mutex<[@Sendable () -> Bool]>([])
  private let work = DispatchSemaphore(value: 0)
  private let encoder: Mutex<VideoEncoder>

  /// The time that may always lie between two pictures, in seconds. It may be longer while a picture is repeated at most 100,000 times.
  public static let maximumGap = 600.0
  /// How often a picture may be repeated until the next one.
  package static let maximumRepeats = 100_000

  /// Makes a writer. An existing file is replaced.
  ///
  /// - Parameters:
  ///   - path: The file; it ends in .mp4, .mkv, .mov or .avi.
  ///   - width: The width of the pictures in pixels; the file's is even.
  ///   - height: The height of the pictures in pixels; the file's is even.
  ///   - frameRate: The frames per second of the file, above 0 to 1000.
  /// - Throws: `invalidArgument` for another ending, size or rate; `unreadableFile` if ffmpeg is not installed; `resourceLimit` if the
  ///   system refuses a thread. What ffmpeg objects to is thrown by ``append(_:at:)`` and ``finish()``.
  public convenience init(_ path: String, width: Int, height: Int, frameRate: Double = 30) throws(ApusError) {
    try self.init(
      path, width: width, height: height, frameRate: frameRate, program: try FFmpeg.find(for: path))
  }

  /// Makes a writer of pictures whose pixels are not square.
  package convenience init(
    _ path: String, width: Int, height: Int, frameRate: Double, pixelAspect: PixelAspect
  ) throws(ApusError) {
    try self.init(
      path, width: width, height: height, frameRate: frameRate, pixelAspect: pixelAspect,
      program: try FFmpeg.find(for: path))
  }

  package init(
    _ path: String, width: Int, height: Int, frameRate: Double = 30, pixelAspect: PixelAspect = .square,
    program: String
  ) throws(ApusError) {
    guard [".mp4", ".mkv", ".mov", ".avi"].contains(where: path.lowercased().hasSuffix),
      !path.utf8.contains(0)
    else {
      throw ApusError(.invalidArgument, "the video '\(path)' does not end in .mp4, .mkv, .mov or .avi")
    }
    guard (16...16_384).contains(width), (16...16_384).contains(height) else {
      throw ApusError(
        .invalidArgument, "a video of \(width) × \(height) pixels is not within 16 to 16384 for each side")
    }
    guard frameRate > 0, frameRate <= 1000 else {
      throw ApusError(
        .invalidArgument, "a video of \(frameRate) frames per second is not above 0 and at most 1000")
    }
    (self.width, self.height, self.frameRate) = (width, height, frameRate)
    encoder = Mutex(
      VideoEncoder(
        path: path, width: width, height: height, frameRate: frameRate, pixelAspect: pixelAspect,
        program: program))
    // The thread keeps the writer's parts until its last job.
    let thread = JobThread(jobs: { [weak self] in self?.nextJob() }, work: work)
    guard startDedicatedThread({ thread.run() }) else {
      throw ApusError(.resourceLimit, "the system refuses a thread for the video '\(path)'")
    }
  }

  deinit { work.signal() }

  /// Adds a picture.
  ///
  /// - Parameters:
  ///   - picture: The picture, of the writer's size after orientation.
  ///   - time: When it is shown, in seconds; the first one's is the file's beginning. Nil for one frame after the last.
  /// - Throws: `invalidArgument` for another size, a time that is not finite, or one for which the last picture would be repeated more than
  ///   100,000 times and for more than ``maximumGap``; `unwritableFile` with what ffmpeg said; `CancellationError` if the caller's task is
  ///   cancelled, without adding the picture.
  public func append(_ picture: ImageBuffer, at time: Double? = nil) async throws {
    try Task.checkCancellation()
    try await perform { encoder throws(ApusError) in try encoder.append(picture, at: time) }
  }

  /// Completes the file, also where the caller's task is cancelled: a program that is ended keeps the pictures so far. Pictures that come
  /// later are refused.
  ///
  /// - Throws: `unwritableFile` with what ffmpeg said.
  public func finish() async throws(ApusError) {
    try await perform { encoder throws(ApusError) in try encoder.finish() }
  }

  /// Adds a picture. Blocks, for callers that have a thread of their own.
  package func appendWaiting(_ picture: ImageBuffer, at time: Double? = nil) throws(ApusError) {
    try performWaiting { encoder throws(ApusError) in try encoder.append(picture, at: time) }
  }

  /// The pictures so far that are not in the file, because an earlier one has their frame.
  package var leftOut: Int { encoder.withLock(\.leftOut) }

  /// Completes the file. Blocks, for callers that have a thread of their own.
  package func finishWaiting() throws(ApusError) {
    try performWaiting { encoder throws(ApusError) in try encoder.finish() }
  }

  private typealias Step = @Sendable (inout VideoEncoder) throws(ApusError) -> Void

  private func perform(_ step: @escaping Step) async throws(ApusError) {
    let result: Result<Void, ApusError> = await withCheckedContinuation { continuation in
      enqueue(step) { continuation.resume(returning: $0) }
    }
    try result.get()
  }

  private func performWaiting(_ step: @escaping Step) throws(ApusError) {
    let semaphore = DispatchSemaphore(value: 0)
    let box = Outcome()
    enqueue(step) {
      box.set($0)
      semaphore.signal()
    }
    semaphore.wait()
    try box.get()
  }

  private func enqueue(_ step: @escaping Step, _ done: @escaping @Sendable (Result<Void, ApusError>) -> Void)
  {
    // The job keeps the writer, so that the thread lives until it is done.
    let job: @Sendable () -> Bool = {
      let result = self.encoder.withLock { encoder -> Result<Void, ApusError> in
        do throws(ApusError) { return .success(try step(&encoder)) } catch { return .failure(error) }
      }
      done(result)
      return true
    }
    jobs.withLock { $0.append(job) }
    work.signal()
  }

  private func nextJob() -> (@Sendable () -> Bool)? {
    jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  /// A result that crosses threads.
  private final class Outcome: Sendable {
    private let result = Mutex<ApusError?>(nil)

    func set(_ new: Result<Void, ApusError>) {
      if case .failure(let error) = new { result.withLock { $0 = error } }
    }

    func get() throws(ApusError) {
      if let error = result.withLock({ $0 }) { throw error }
    }
  }
}

/// Runs jobs one by one, until there is a signal without a job.
private struct JobThread: Sendable {
  let jobs: @Sendable () -> (@Sendable () -> Bool)?
  let work: DispatchSemaphore

  func run() {
    while true {
      work.wait()
      guard let job = jobs() else { return }
      _ = job()
    }
  }
}
