// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ArgumentParser

/// The thresholds of a tracker.
struct TrackingOptions: ParsableArguments {
  @Option(
    name: .long,
    help: """
      The minimum score that starts a track; by default, with 'watch' any object that is found, with 'track' 0.25 for sort, 0.7 \
      for bytetrack.
      """
  )
  var activationScore: Double?

  @Option(
    name: .long,
    help: """
      The minimum score of sure detections, for bytetrack; by default, with 'watch' that of any object that is found, with \
      'track' 0.6.
      """)
  var highScore: Double?

  @Option(
    name: .long, help: "The minimum overlap of a box with its prediction; 0.3 for sort, 0.1 for bytetrack.")
  var minimumOverlap: Double?

  @Option(
    name: .long,
    help: """
      The detections after which a track gets its number; 3 for sort, 2 for bytetrack. With 1, that is the second, even after \
      frames without one.
      """)
  var minimumHits: Int?

  @Option(name: .long, help: "How many seconds an object may be unseen; 1.")
  var lostTime: Double?

  /// The thresholds' names, by those of the library.
  private static let names = [
    "activationScore": "--activation-score", "highScore": "--high-score",
    "minimumOverlap": "--minimum-overlap",
    "minimumHits": "--minimum-hits", "maximumLostTime": "--lost-time", "frameRate": "--frame-rate",
  ]

  /// The first threshold that was given.
  var given: String? {
    let all: [(String, Bool)] = [
      ("--activation-score", activationScore != nil), ("--high-score", highScore != nil),
      ("--minimum-overlap", minimumOverlap != nil), ("--minimum-hits", minimumHits != nil),
      ("--lost-time", lostTime != nil),
    ]
    return all.first { $0.1 }?.0
  }

  /// Throws wrong usage for a value out of its range, and for a threshold that the method does not have.
  func check(_ method: TrackingMethod, frameRate: Double) throws {
    if method == .sort, highScore != nil {
      throw ValidationError("--high-score is for bytetrack; sort has one threshold, --activation-score")
    }
    do { _ = try ObjectTracker(options(method, frameRate: frameRate)) } catch {
      let name = error.message.prefix { $0 != " " }
      throw ValidationError((Self.names[String(name)] ?? String(name)) + error.message.dropFirst(name.count))
    }
  }

  /// The method's thresholds, with those that were given instead.
  ///
  /// - Parameter areSure: Whether a detector with a threshold of its own has found the objects, so that each may start a track.
  func options(_ method: TrackingMethod, frameRate: Double, areSure: Bool = false) -> ObjectTracker.Options {
    var options = areSure ? method.options.withoutScoreThresholds : method.options
    options.frameRate = frameRate
    if let activationScore { options.activationScore = activationScore }
    if let highScore { options.highScore = highScore }
    if let minimumOverlap { options.minimumOverlap = minimumOverlap }
    if let minimumHits { options.minimumHits = minimumHits }
    if let lostTime { options.maximumLostTime = lostTime }
    return options
  }
}
