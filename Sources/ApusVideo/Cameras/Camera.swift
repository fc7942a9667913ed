// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A camera of Video4Linux, read without any library or program. Linux only.
///
/// ```swift
/// let camera = try Camera("/dev/video0", size: (640, 480), frameRate: 30)
/// for try await frame in camera {
///   print(frame.time, try await detector.detect(frame.picture()).detections.count)
/// }
/// ```
///
/// The newest frame counts; those that it replaces are dropped and counted in ``statistics``. A camera that was unplugged is opened again
/// when it is back. A camera has one reader. It is closed when nothing refers to it any more, or by ``stop()``. ``VideoSource`` reads cameras in this way, too.
public final class Camera: AsyncSequence, Sendable {
  public typealias Element = VideoFrame
  public typealias Failure = ApusError

  /// The device's file.
  public let path: String

  private let source: VideoSource

  /// Opens a camera, and starts to read.
  ///
  /// - Parameters:
  ///   - path: The device's file, such as `/dev/video0`.
  ///   - size: The size of frames, in pixels; the camera's nearest. Nil for what is set.
  ///   - frameRate: Frames per second; the camera's nearest. Nil for what is set.
  ///   - format: The form of frames by its four letters, such as `YUYV` or `MJPG`; nil for the cheapest of those with the highest rate.
  ///   - controls: Names of controls, and what they are set to, in this order.
  /// - Throws: `invalidArgument` for a name that is no camera's; `unreadableFile` for a file that cannot be opened. All other errors come
  ///   with the frames.
  public init(
    _ path: String, size: (width: Int, height: Int)? = nil, frameRate: Double? = nil, format: String? = nil,
    controls: KeyValuePairs<String, String> = [:]
  ) throws(ApusError) {
    let location = try VideoLocation(path)
    guard location.kind == .device else {
      throw ApusError(
        .invalidArgument, "'\(path.prefix(200))' is no camera, such as /dev/video0; VideoSource reads others")
    }
    var options = VideoSource.Options()
    options.size = size
    options.camera.frameRate = frameRate
    options.camera.format = format
    options.camera.controls = controls.map { CameraOptions.Setting($0.key, $0.value) }
    self.path = path
    source = try VideoSource(path, options: options)
  }

  /// The counts of frames and restarts so far.
  public var statistics: VideoStatistics { source.statistics }

  /// Ends the source; the sequence then ends, too.
  public func stop() { source.stop() }

  public func makeAsyncIterator() -> VideoSource.Iterator { source.makeAsyncIterator() }

  /// The devices of Video4Linux that capture video, by their numbers; those that cannot be asked have a ``CameraDevice/problem``.
  ///
  /// There are none on other systems than Linux.
  public static func devices() -> [CameraDevice] {
    #if os(Linux)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev")) ?? []
      return numbers(of: names).compactMap { device("/dev/video\($0)") }
    #else
      return []
    #endif
  }

  /// The numbers in the names that are `video` and a number, in order.
  package static func numbers(of names: [String]) -> [Int] {
    names.filter { $0.hasPrefix("video") && $0.dropFirst(5).utf8.allSatisfy { (0x30...0x39).contains($0) } }
      .compactMap { Int($0.dropFirst(5)) }.sorted()
  }

  #if os(Linux)
    /// Changes a control of a camera, which may be in use.
    ///
    /// - Parameters:
    ///   - name: The control's name, such as `exposure_time_absolute`.
    ///   - value: A number, `on` or `off`, or a choice of a menu by its name.
    ///   - path: The device's file.
    /// - Throws: `unreadableFile` for a device that cannot be opened or refuses; `invalidArgument` for a control or value that it does not
    ///   have.
    public static func set(_ name: String, to value: String, of path: String) throws(ApusError) {
      let handle = try V4L2Handle(path)
      try V4L2Controls(path: path, ask: handle.ask).set(name, to: value)
    }

    /// Asks a device; nil if it captures no video.
    private static func device(_ path: String) -> CameraDevice? {
      do throws(ApusError) {
        let handle = try V4L2Handle(path)
        return try V4L2Questions(path: path, ask: handle.ask).device()
      } catch {
        return CameraDevice(
          path: path, name: "", driver: "", bus: "", formats: [], controls: [], problem: error.message)
      }
    }
  #endif
}
