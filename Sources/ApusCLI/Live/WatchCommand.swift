// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusTracking
import ApusVideo
import ApusVision
import ArgumentParser
import Dispatch

/// `apus watch`: objects in a video or before a camera, followed and counted.
struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Finds, follows and counts objects in a video or before a camera.",
    discussion: """
      A source is a file, a URL (rtsp, http and others), a camera such as
      /dev/video0, or test:PATTERN, test:PATTERN:WIDTHxHEIGHT:SECONDS with a pattern
      such as testsrc2. ffmpeg reads all but cameras, which 'apus cameras' lists. Of
      live sources, the newest frame counts; of files, every one. Ctrl-C ends
      properly.

      Every object that is found can start a track and be counted, whatever its
      score: --score-threshold says from which score on objects are found. An object
      is at the middle of its lower edge, and within the picture.

      What ffmpeg calls damaged in a film is counted as damaged, with a warning at
      the end; frames without damage before and after it are looked at.

      For ByteTrack's second matching, find what is doubtful, too, and say from which
      score on it is not: --score-threshold 0.1 --high-score 0.5.

      The defaults of --score-threshold, --max-results and --iou-threshold are those
      of the task's own command, such as 'apus faces'.

      For example:
        apus watch street.mp4 --model detect.tflite --track bytetrack \\
          --annotate found.mp4
        apus watch /dev/video0 --size 1280x720 --control zoom_absolute=200
        apus watch rtsp://camera/stream --model detect.tflite \\
          --line gate:0,0.5,1,0.5 --json
        apus watch wave.mp4 --task hands --model hand_landmarker.task \\
          --annotate hands.mp4
      """)

  @Argument(help: "The file, URL, device or test pattern.")
  var source: String

  @Option(
    name: .long,
    help:
      "What to look for: detect (objects), classify, faces, segment, keypoints, hands, face-mesh, pose or holistic."
  )
  var task: WatchTask = .detect

  @Option(
    name: .long, help: "The .tflite model or .task bundle of the task; without it, the embedded detector.")
  var model: String?

  @OptionGroup var landmarks: WatchLandmarkOptions

  @OptionGroup var detectorOptions: DetectorOptions

  @OptionGroup var pose: PoseOptions

  @OptionGroup var mask: MaskOptions

  @OptionGroup var input: ModelInputOptions

  @Option(name: .long, help: "Look at no more than this many frames per second.")
  var fps: Double?

  @Option(name: .long, help: "End after this many frames with results.")
  var frames: Int?

  @Option(name: .long, help: "End at this time of the source, in seconds.")
  var seconds: Double?

  @Option(name: .long, help: "Look only at frames whose number is a multiple of this.")
  var every = 1

  @Flag(help: "Take the source as live: the newest frame counts.")
  var live = false

  @Flag(help: "Read a file or test pattern no faster than it is played.")
  var realTime = false

  @Option(
    name: .long,
    help: "The size to which frames are scaled first, for example 640x480; of a camera, the nearest it has.")
  var size: String?

  @OptionGroup var camera: CameraSettings

  @Option(name: .long, help: "Follow objects: sort or bytetrack; bytetrack if there are lines or zones.")
  var track: TrackingMethod?

  @OptionGroup var tracking: TrackingOptions

  @OptionGroup var scene: SceneOptions

  @Option(name: .long, help: "The video with the results drawn: .mp4, .mkv, .mov or .avi.")
  var annotate: String?

  @Option(name: .long, help: "A folder for a picture of each event, as .jpg.")
  var snapshots: String?

  @Option(
    name: .long, help: "A folder for the picture of each frame with a result, as .png, without drawings.")
  var saveFrames: String?

  @Flag(help: "Print one JSON object a line.")
  var json = false

  func validate() throws {
    if let fps, !(fps >= 1e-6 && fps <= 1000) {
      throw ValidationError("--fps is \(fps), not 0.000001 to 1000")
    }
    if let frames, frames < 1 { throw ValidationError("--frames is \(frames), not 1 or more") }
    if let seconds, !(seconds > 0 && seconds <= 1e9) {
      throw ValidationError("--seconds is \(seconds), not above 0")
    }
    guard (1...1_000_000).contains(every) else {
      throw ValidationError("--every is \(every), not 1 to 1000000")
    }
    if let annotate, ![".mp4", ".mkv", ".mov", ".avi"].contains(where: annotate.lowercased().hasSuffix) {
      throw ValidationError("--annotate \(annotate) is not a .mp4, .mkv, .mov or .avi file")
    }
    if task.needsModel, model == nil {
      throw ValidationError("--task \(task.rawValue) needs a --model; none is embedded")
    }
    if !task.findsObjects, track != nil || !scene.line.isEmpty || !scene.zone.isEmpty {
      throw ValidationError("--task \(task.rawValue) finds no objects for --track, --line or --zone")
    }
    _ = try scaledSize
    if let method = trackingMethod { try tracking.check(method, frameRate: usualRate) }
    if camera.isUsed, !source.hasPrefix("/dev/") {
      throw ValidationError(
        "--camera-format, --camera-rate and --control are for a camera, not for \(shownSource)")
    }
    if realTime, let location = try? VideoLocation(source), !location.isPaced {
      throw ValidationError("--real-time is for files and test patterns, not for \(shownSource)")
    }
    try checkIdleOptions()
  }

  /// Throws for an option that would change nothing beside the others.
  private func checkIdleOptions() throws {
    if trackingMethod == nil, let given = tracking.given {
      throw ValidationError("\(given) is for tracks: --track, --line or --zone is missing")
    }
    if scene.line.isEmpty, scene.zone.isEmpty {
      if scene.crossingFrames != 1 {
        throw ValidationError("--crossing-frames is for lines and zones: --line or --zone is missing")
      }
      if snapshots != nil {
        throw ValidationError("--snapshots is for crossings and stays: --line or --zone is missing")
      }
    }
    if input.reduced {
      throw ValidationError("--reduced is for JPEG files, not for frames; --size scales those")
    }
    try checkOptionsOfTasks()
    try landmarks.check(task, bundle: model)
  }

  /// The source without the secrets of a URL.
  private var shownSource: Substring { VideoSource.shownName(source).prefix(200) }

  /// Ends a source that gives no frame any more, whose time then does not come.
  private static func stop(_ video: VideoSource, after seconds: Double) {
    DispatchQueue.global().asyncAfter(deadline: .now() + min(seconds, 1e6)) { [weak video] in video?.stop() }
  }

  private var scaledSize: (width: Int, height: Int)? {
    get throws {
      guard let size else { return nil }
      let sides = size.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
      guard sides.count == 2, sides.allSatisfy({ (16...16_384).contains($0) }) else {
        throw ValidationError("--size \(size) is not WIDTHxHEIGHT with sides of 16 to 16384")
      }
      let limit = VideoSource.Options().pixelLimit
      guard sides[0] * sides[1] <= limit else {
        throw ValidationError("--size \(size) has more pixels than the limit of \(limit)")
      }
      return (sides[0], sides[1])
    }
  }

  /// How objects are tracked; nil if nothing needs tracks.
  private var trackingMethod: TrackingMethod? {
    track ?? (scene.line.isEmpty && scene.zone.isEmpty ? nil : .bytetrack)
  }

  /// How many frames per second are looked at, if the source does not say.
  private var usualRate: Double { fps ?? min(max(camera.cameraRate ?? 30, 1), 1000) / Double(every) }

  /// How many frames per second are looked at, for the tracker and the video alike.
  private func frameRate(_ video: VideoSource) -> Double {
    if let rate = video.frameRate(every: every, atMost: fps) { return rate }
    guard video.isLive, let fps else { return usualRate }
    // The numbers that live sources announce are often wrong: one above 30 counts only if as many frames are wanted.
    let rate = camera.cameraRate ?? max(30, video.announcedFrameRate ?? 30)
    return min(fps, min(max(rate, 1), 1000) / Double(every))
  }

  /// The tracker's options at a rate; nil if nothing needs tracks.
  func trackerOptions(frameRate: Double) -> ObjectTracker.Options? {
    trackingMethod.map { tracking.options($0, frameRate: frameRate, areSure: true) }
  }

  func run() throws {
    if let annotate, try VideoLocation(source).isFile(at: annotate) {
      throw ValidationError("--annotate \(annotate) is the source, and would replace it while it is read")
    }
    for (option, folder, form) in [("--save-frames", saveFrames, ".png"), ("--snapshots", snapshots, ".jpg")]
    {
      guard let folder, source.hasSuffix(form), let name = source.split(separator: "/").last,
        try VideoLocation(source).isFile(at: "\(folder)/\(name)")
      else { continue }
      throw ValidationError(
        "\(option) \(folder) is the folder of the source, which may be replaced while it is read: choose another folder"
      )
    }
    let finder = try task.finder(self)
    finder.warnings.write()
    var options = VideoSource.Options()
    options.size = try scaledSize
    if live { options.isLive = true }
    options.isRealTime = realTime
    options.camera = camera.options
    let video = try VideoSource(source, options: options)
    let losses = LossReport(of: video.name)
    video.observeInterruptions { losses.write($0) }
    let interruption = Interruption { video.stop() }
    var watch = Watch(command: self, video: video)
    var hasAlarm = false
    do {
      while let frame = try video.waitForNext() {
        if let seconds {
          if frame.time >= seconds { break }
          if video.isLive, !hasAlarm { Self.stop(video, after: seconds - frame.time + 1) }
          hasAlarm = true
        }
        guard watch.wants(frame) else { continue }
        let picture = frame.picture()
        let finding = try finder.find(picture, frame.time)
        finder.warnings.write()
        try watch.take(frame, picture, finding, frameRate: frameRate(video))
        if let frames, watch.answered >= frames { break }
      }
    } catch {
      // The counts and the output so far are complete.
      if watch.answered > 0 { try? watch.finish(video.statistics) }
      throw error
    }
    video.stop()
    withExtendedLifetime(interruption) {}
    try watch.finish(video.statistics)
  }
}
