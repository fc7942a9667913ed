// SPDX-License-Identifier: Apache-2.0
import ApusImages
import ApusTracking
import ApusVideo
import ApusVision

/// The history of a camera, however often its source was opened: numbers of tracks, counts, frames and the
/// time go on.
struct CameraCourse {
  /// The result of a frame.
  struct Step {
    let objects: [ObjectScene.Object]
    let events: [ObjectScene.Event]
    /// The frame's number and its time in seconds, both since the source was opened first.
    let number: Int
    let time: Double
  }

  private let settings: CameraSettings
  private let tracking: ObjectTracker.Options
  /// The scene in pixels of the first picture.
  private var scene: ObjectScene?
  /// When the time was 0.
  private var beginning: ContinuousClock.Instant?
  /// The seconds that are added to the times of frames; nil before the first one after an opening.
  private var timeOffset: Double?
  private var lastTime: Double?
  private var pace: FramePace
  /// The offset that is added to the numbers of frames.
  private var frameOffset = 0
  private var frameCount = 0

  init(_ settings: CameraSettings, tracking: ObjectTracker.Options) {
    self.settings = settings
    self.tracking = tracking
    pace = FramePace(atMost: settings.frameRate)
  }

  /// The counts of all lines and zones.
  var lineCounts: [String: ObjectScene.LineCounts] { scene?.lineCounts ?? [:] }
  var zoneCounts: [String: ObjectScene.ZoneCounts] { scene?.zoneCounts ?? [:] }

  /// Notes that the source is opened, perhaps anew.
  ///
  /// - Parameter arrived: The frames that arrived so far.
  mutating func open(arrived: Int) {
    timeOffset = nil
    frameCount = max(frameCount, arrived)
    frameOffset = frameCount
  }

  /// The time of a frame; between two openings of a source it goes on as the clock does.
  mutating func time(of frame: VideoFrame) -> Double {
    if let timeOffset { return timeOffset + frame.time }
    let clock = frame.arrival - .seconds(frame.time)
    let start = beginning ?? clock
    beginning = start
    let offset = max((clock - start) / .seconds(1), (lastTime ?? 0) - frame.time, 0)
    timeOffset = offset
    return offset + frame.time
  }

  /// Whether a frame is looked at, by the rate that is wanted.
  mutating func wants(_ time: Double, isLive: Bool) -> Bool { pace.takes(time, isLive: isLive) }

  /// Takes what was found in a frame.
  ///
  /// - Parameter frameRate: How many frames per second are looked at; nil if that is not known.
  mutating func update(
    _ detections: [Detection], in picture: ImageBuffer, of frame: VideoFrame, at time: Double,
    frameRate: Double?
  ) throws -> Step {
    var tracking = tracking
    if let frameRate { tracking.frameRate = frameRate }
    var scene =
      try scene
      ?? ObjectScene(
        lines: settings.lines, zones: settings.zones, tracking: tracking, width: picture.width,
        height: picture.height)
    lastTime = time
    frameCount = max(frameCount, frameOffset + frame.number + 1)
    let (objects, events) = try scene.update(
      detections, width: picture.width, height: picture.height, at: time)
    self.scene = scene
    return Step(objects: objects, events: events, number: frameOffset + frame.number, time: time)
  }

  /// Ends the stays of those who are in zones, as at the end of a film, and returns them.
  mutating func finish() -> [ObjectScene.Event] { scene?.finish(at: lastTime ?? 0) ?? [] }
}
