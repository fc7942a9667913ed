// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ArgumentParser

/// The thresholds of a tracker.
struct TrackingOptions: ParsableArguments {
  @Option(name: .long, help: "The minimum score that starts a track; 0.25 for sort, 0.7 for bytetrack.")
  var activationScore: Double?

  @Option(name: .long, help: "The minimum score of sure detections, for bytetrack; 0.6.")
  var highScore: Double?

  @Option(
    name: .long, help: "The minimum overlap of a box with its prediction; 0.3 for sort, 0.1 for bytetrack.")
  var minimumOverlap: Double?

  @Option(
    name: .long, help: "The detections after which a track gets its number; 3 for sort, 2 for bytetrack.")
  var minimumHits: Int?

  @Option(name: .long, help: "How many seconds an object may be unseen; 1.")
  var lostTime: Double?

  /// The method's thresholds, with those that were given instead.
  func options(_ method: TrackingMethod, frameRate: Double) -> ObjectTracker.Options {
    var options = method.options
    options.frameRate = frameRate
    if let activationScore { options.activationScore = activationScore }
    if let highScore { options.highScore = highScore }
    if let minimumOverlap { options.minimumOverlap = minimumOverlap }
    if let minimumHits { options.minimumHits = minimumHits }
    if let lostTime { options.maximumLostTime = lostTime }
    return options
  }
}
