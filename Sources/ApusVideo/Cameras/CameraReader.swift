// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

/// Reads frames from a camera, on a thread of its own, and opens it again where it was unplugged and comes back.
struct CameraReader: Sendable {
  let path: String
  let options: CameraOptions
  let source: VideoSource.Options
  let queue: FrameQueue
  /// Opens the device.
  let open: @Sendable () throws(ApusError) -> any V4L2Driver

  /// The number of damaged frames in a row after which a camera is taken for broken.
  private static let maximumDamaged = 300
  private static let advice = "another format, rate or cable may help"

  /// Reads until the camera fails for good or is not wanted any more.
  func run() {
    SourceRestarts(
      comesBack: { true }, limit: source.restartLimit, queue: queue,
      noFrames: { _ in ApusError(.unreadableFile, "'\(path)' has no frames") }
    ).run(readOnce)
  }

  private func readOnce(_ progress: inout SourceRestarts.Progress) -> SourceRestarts.End {
    do throws(ApusError) {
      let capture = try V4L2Capture(
        path: path, driver: try open(), options: options, pixelLimit: source.pixelLimit)
      var last = monotonicNanoseconds()
      var damaged = 0
      while !queue.isEnded {
        let delivery = try capture.next(milliseconds: 200)
        let now = monotonicNanoseconds()
        progress.frames += delivery.older + delivery.damaged
        damaged += delivery.damaged
        queue.count(older: delivery.older, damaged: delivery.damaged)
        guard damaged < Self.maximumDamaged else {
          throw ApusError(
            .unreadableFile,
            "'\(path)': its driver says that \(damaged) frames in a row are damaged; \(Self.advice)")
        }
        if let bytes = delivery.bytes {
          last = now
          do throws(ApusError) {
            let (raw, flaw) = try capture.decoded(bytes)
            if let flaw { queue.countDamage(flaw, count: 1) }
            // The driver's time is earlier than this one by what the frame has waited.
            let age = max(0, min(now - (delivery.timestamp ?? now), 10_000_000_000))
            let arrival = ContinuousClock.now.advanced(by: .nanoseconds(-age))
            queue.put(
              VideoFrame(
                number: progress.frames, time: progress.time(ofArrival: arrival), arrival: arrival, raw: raw))
            progress.delivered += 1
            damaged = 0
          } catch {
            // Cameras cut frames short now and then, above all while they start.
            damaged += 1
            queue.count(older: 0, damaged: 1)
            guard damaged < Self.maximumDamaged else {
              throw ApusError(
                error.code,
                "'\(path)': \(error.message); \(damaged) frames in a row are damaged; \(Self.advice)")
            }
          }
          progress.frames += 1
        } else if Double(now - last) >= source.stallLimit / .nanoseconds(1) {
          throw ApusError(
            .unreadableFile, "'\(path)' has stalled: no frame for \(source.stallLimit)")
        }
      }
      return .ended(message: nil)
    } catch {
      return .failed(error)
    }
  }
}
