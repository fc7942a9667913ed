// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusTracking
import ApusVision
import ArgumentParser

/// `apus track`: boxes of a detector become numbered tracks.
struct TrackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "track", abstract: "Numbers the objects in a file of detections.",
    usage: "apus track <detections> [--method <method>] [--output <file>] [<options>]",
    discussion: """
      Reads lines of the MOTChallenge, frame,id,left,top,width,height,score, and
      ignores their ids. Frames are those of the file; frames without a line have no
      objects.

      For example:
        apus track det.txt --method sort --output tracks.txt
      """)

  @Argument(help: "The detections, one a line; - for standard input.")
  var detections: String

  @OptionGroup var tracking: TrackingOptions

  @Option(name: .long, help: "The method: sort or bytetrack.")
  var method: TrackingMethod = .bytetrack

  @Option(name: .long, help: "The nominal frames per second.")
  var frameRate: Double = 30

  @Option(name: .long, help: "Where to write the tracks, in the form of the detections.")
  var output: String?

  @OptionGroup var timeLimits: TimeLimitOptions

  @Flag(help: "Print counts as JSON.")
  var json = false

  func validate() throws {
    guard output != "-" else {
      throw ValidationError("--output - is no file: the counts go to standard output; name a file")
    }
    try tracking.check(method, frameRate: frameRate)
  }

  private var options: ObjectTracker.Options { tracking.options(method, frameRate: frameRate) }

  /// The counts that the command prints.
  private struct Counts: Encodable {
    var frames = 0
    var detections = 0
    /// Confirmed tracks.
    var tracks = 0
    /// Boxes of confirmed tracks, without those of lost ones.
    var boxes = 0
    /// The maximum number of tracks in a frame.
    var most = 0
  }

  /// Says that no score suffices for a track, as those of detectors with another scale.
  private func warnOfScores(in frames: [MOTChallenge.Frame]) {
    let scores = frames.lazy.flatMap { $0.detections.lazy.map(\.score) }
    guard let least = scores.min(), let most = scores.max(), most < options.activationScore else { return }
    Output.writeError(
      "warning: no detection can start a track: the scores go from \(least) to \(most), and --activation-score is "
        + "\(options.activationScore)")
  }

  func run() throws {
    if let output, FileIdentity.areSame(output, detections) {
      throw ValidationError("--output would replace '\(detections)': choose another place")
    }
    let name = detections == "-" ? "standard input" : detections
    let limit = 1 << 30
    let bytes = try readWholeFile(at: detections == "-" ? "/dev/stdin" : detections, limit: limit)
    let frames: [MOTChallenge.Frame]
    do { frames = try MOTChallenge.frames(in: bytes) } catch {
      throw ApusError(.invalidData, "\(name): \(error.message)")
    }

    var tracker: ObjectTracker
    do { tracker = try ObjectTracker(options) } catch { throw ValidationError(error.message) }
    var counts = Counts()
    var lines = ""
    var next = frames.first?.number ?? 0
    let watch = timeLimits.watch("counting the frames without a line", isShared: false)
    var emptyCount = 0
    func failure(_ error: TrackingError, _ frame: Int) -> ApusError {
      ApusError(.invalidData, "\(name): frame \(frame): \(error.message)")
    }
    for frame in frames {
      // Frames without a line; when all tracks have ended, they change nothing.
      while next < frame.number, !tracker.isIdle {
        emptyCount += 1
        if emptyCount.isMultiple(of: 1 << 16) { try watch() }
        do { try tracker.update([]) } catch { throw failure(error, next) }
        next += 1
      }
      do {
        let tracked = try tracker.update(frame.detections).filter { $0.state == .tracked }
        next = frame.number + 1
        counts.detections += frame.detections.count
        counts.boxes += tracked.count
        counts.most = max(counts.most, tracked.count)
        counts.tracks = max(counts.tracks, tracked.last?.id ?? 0)
        if output != nil { for track in tracked { lines += MOTChallenge.line(track, frame: frame.number) } }
      } catch {
        throw failure(error, frame.number)
      }
    }
    warnOfScores(in: frames)
    if let first = frames.first, let last = frames.last { counts.frames = last.number - first.number + 1 }
    if let output { try writeWholeFile(Array(lines.utf8), to: output) }
    if json { return try Output.writeJSON(counts) }
    Output.write(
      """
      \(counts.frames) frames, \(counts.detections) detections → \(counts.tracks) tracks, \(counts.boxes) boxes, \
      at most \(counts.most) in a frame
      """)
  }
}

/// The methods by the names that they have on the command line.
enum TrackingMethod: String, CaseIterable, ExpressibleByArgument {
  case sort, bytetrack

  /// The method's own thresholds.
  var options: ObjectTracker.Options {
    switch self {
    case .sort: .sort
    case .bytetrack: .byteTrack
    }
  }
}
