// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// The frames of a video, stream or test pattern, read by an ffmpeg process, or of a camera, read without one.
///
/// ```swift
/// let source = try VideoSource("rtsp://camera.local/stream")
/// for try await frame in source {
///   let result = try await detector.answer(frame.picture())
///   print(frame.time, result.detections.count, source.statistics.dropped)
/// }
/// ```
///
/// Live sources keep the newest frame and count those that it replaced. Files wait for the reader, and lose none. A source is for one
/// reader. ffmpeg ends when nothing refers to the source any more, by ``stop()``, and with this process, however it ends: leaving the loop
/// does not end it while the source is kept. A loop whose task is cancelled ends as at the end of a film; `Task.isCancelled` tells them apart.
///
/// A thread of its own reads from ffmpeg. What comes is checked: an announced size beyond the limit, a frame that is cut short, a source that
/// says nothing for too long are errors with the source's name.
public final class VideoSource: AsyncSequence, Sendable {
  public typealias Element = VideoFrame
  public typealias Failure = ApusError

  /// The name as it was given, for errors and logs: of a URL, `…` stands for the user and password, the query and the fragment, and for parts
  /// of the path with a `=`.
  public let name: String
  /// Whether the newest frame counts, and older ones are dropped. Of `http` and `https`, this is known with the first frame: Motion-JPEG that a
  /// camera sends picture by picture (`multipart/x-mixed-replace`) is live, everything else a file.
  public var isLive: Bool { queue.keepsNewest }

  private let queue: FrameQueue

  /// Starts to read.
  ///
  /// - Parameters:
  ///   - name: A path, a URL (`rtsp`, `rtsps`, `http`, `https`, `rtmp`, `rtp`, `srt`, `tcp`, `udp`), a device such as `/dev/video0`, or
  ///     `test:PATTERN`, `test:PATTERN:WIDTHxHEIGHT`, `test:PATTERN:WIDTHxHEIGHT:SECONDS` with a pattern of ffmpeg, such as `testsrc2`.
  ///   - options: Size, speed, limits.
  /// - Throws: `invalidArgument` for a name or option that is not possible; `unreadableFile` for a file that cannot be opened, or if ffmpeg is
  ///   not installed; `resourceLimit` if the system refuses a thread. All other errors come with the frames.
  public convenience init(_ name: String, options: Options = Options()) throws(ApusError) {
    let location = try VideoLocation(name)
    try options.check()
    #if os(Linux)
      if location.kind == .device {
        try location.checkAccess()
        try self.init(camera: location, options) { () throws(ApusError) -> any V4L2Driver in
          try V4L2Handle(name)
        }
        return
      }
    #endif
    try self.init(
      location, options, program: try FFmpeg.find(for: location.name), location.arguments(options))
  }

  /// Checks a name and options without opening anything, for programs that refuse a mistake before they start.
  ///
  /// - Throws: `invalidArgument` for a name or option that is not possible, whatever is connected or installed.
  public static func check(_ name: String, options: Options = Options()) throws(ApusError) {
    _ = try VideoLocation(name)
    try options.check()
  }

  /// A name as ``name`` has it, whether or not it can be read.
  package static func shownName(_ name: String) -> String { MaskedAddress(name).text }

  /// Reads from a program with any arguments, which stands for ffmpeg.
  package init(_ location: VideoLocation, _ options: Options, program: String, _ arguments: [String])
    throws(ApusError)
  {
    name = location.name
    try location.checkAccess()
    queue = FrameQueue(keepsNewest: options.isLive ?? location.isLive)
    let reader = VideoReader(
      location: location, options: options, program: program, arguments: arguments, queue: queue)
    guard startDedicatedThread({ reader.run() }) else {
      throw ApusError(.resourceLimit, "the system refuses a thread for the video '\(name)'")
    }
  }

  /// Reads from a camera that a function opens.
  package init(
    camera location: VideoLocation, _ options: Options,
    _ open: @escaping @Sendable () throws(ApusError) -> any V4L2Driver
  ) throws(ApusError) {
    name = location.name
    queue = FrameQueue(keepsNewest: true)
    var camera = options.camera
    if let size = options.size { (camera.width, camera.height) = (size.width, size.height) }
    let reader = CameraReader(path: name, options: camera, source: options, queue: queue, open: open)
    guard startDedicatedThread({ reader.run() }) else {
      throw ApusError(.resourceLimit, "the system refuses a thread for the camera '\(name)'")
    }
  }

  deinit { queue.stop() }

  /// The counts of frames and restarts so far.
  public var statistics: VideoStatistics { queue.statistics }

  /// The beginning or end of a time in which a live source gives no frames, because it is started again.
  package enum Interruption: Sendable {
    case began(reason: String)
    case ended
  }

  /// Calls `observer` on the thread that reads the source, where the source is interrupted, and where it gives frames again.
  package func observeInterruptions(_ observer: @escaping @Sendable (Interruption) -> Void) {
    queue.observe(observer)
  }

  /// The frames per second of a file or pattern that are looked at: known with its first frame; nil of cameras, and if the source does not
  /// say.
  ///
  /// - Parameters:
  ///   - every: How many frames come from one that is looked at to the next.
  ///   - limit: The maximum; frames are not divided, so that of ten per second at most four are every third. Nil for all.
  public func frameRate(every: Int = 1, atMost limit: Double? = nil) -> Double? {
    guard !isLive, let frameRate = announcedFrameRate, every > 0 else { return nil }
    let rate = frameRate / Double(every)
    guard let limit, limit > 0, limit < rate else { return rate }
    return rate / (rate / limit - 1e-6).rounded(.up)
  }

  /// Ends the source; the sequence then ends, too.
  public func stop() { queue.stop() }

  /// The frames per second that the source announces, if that can be.
  package var announcedFrameRate: Double? { queue.frameRate }

  /// The shape of pixels; square until the first frame, and if the source does not say.
  package var pixelAspect: PixelAspect { queue.pixelAspect }

  /// The next frame, or nil at the end. Blocks, for callers that have a thread of their own.
  package func waitForNext() throws(ApusError) -> VideoFrame? { try queue.waitForNext() }

  public func makeAsyncIterator() -> Iterator { Iterator(source: self) }

  /// Hands out the frames.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let source: VideoSource

    /// The next frame; nil at the end and after ``VideoSource/stop()``.
    ///
    /// - Throws: `cancelled` if the caller's task is cancelled, which ends the source; otherwise what keeps it from being read.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(ApusError) -> VideoFrame? {
      try await source.queue.next()
    }

    /// The next frame; nil at the end and after ``VideoSource/stop()``.
    ///
    /// - Throws: `cancelled` if the caller's task is cancelled, which ends the source; otherwise what keeps it from being read.
    public mutating func next() async throws(ApusError) -> VideoFrame? { try await source.queue.next() }
  }
}
