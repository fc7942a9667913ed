// SPDX-License-Identifier: Apache-2.0
import ApusSystem  // Links the functions of mathematics.

extension ObjectTracker {
  /// How detections become tracks.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Method: String, CaseIterable, Hashable, Sendable, Codable {
    /// SORT: one matching, a filter of center, area and ratio (Bewley et al., "Simple Online and Realtime Tracking", ICIP 2016,
    /// arXiv:1602.00763).
    case sort
    /// ByteTrack: sure detections are matched first, then the others with the tracks that are left (Zhang et al., "ByteTrack:
    /// Multi-Object Tracking by Associating Every Detection Box", ECCV 2022, arXiv:2110.06864). The filter is one of edges.
    case byteTrack
  }

  /// The method, and its thresholds.
  public struct Options: Hashable, Sendable, Codable {
    /// The method.
    public var method: Method
    /// The minimum score of a detection that starts a track.
    public var activationScore: Double
    /// The minimum score of a sure detection; ``Method/byteTrack`` alone uses it.
    public var highScore: Double
    /// The minimum intersection over union of a track's predicted box and its detection, above 0 to 1. Boxes that do not overlap are never
    /// matched.
    public var minimumOverlap: Double
    /// The detections after which a track is confirmed and gets its number; those of ``Method/byteTrack`` must be consecutive. A track is
    /// never confirmed by its first detection alone: 1 means that its second one may come after frames without, 2 that it may not.
    public var minimumHits: Int
    /// How long a confirmed track without detections is kept, in seconds. Its object gets the same number if it appears again. A track that
    /// was seen in the last frame is kept until the next one, unless that comes after a pause.
    public var maximumLostTime: Double
    /// The nominal frames per second, which turn ``maximumLostTime`` into frames, and times into steps of the filter.
    public var frameRate: Double
    /// Whether detections belong only to tracks of their own class. Otherwise a track has the class of its latest detection.
    public var matchesWithinClass: Bool
    /// The maximum number of detections in a frame. At most eight times as many tracks are kept; those that are lost for longest go first.
    public var maximumDetections: Int

    /// SORT with the paper's thresholds, except that lost tracks are kept for a second.
    public static let sort = Options(
      method: .sort, activationScore: 0.25, highScore: 0.6, minimumOverlap: 0.3, minimumHits: 3)

    /// ByteTrack, with a new track for detections above 0.7: for detectors that report what they doubt, too.
    public static let byteTrack = Options(
      method: .byteTrack, activationScore: 0.7, highScore: 0.6, minimumOverlap: 0.1, minimumHits: 2)

    /// The options for a detector that reports only what it is sure of: every detection can start a track, and is a sure one.
    ///
    /// The detector's threshold then decides alone which objects there are. ``Method/byteTrack`` matches once, as there are no doubtful
    /// detections for its second matching.
    public var withoutScoreThresholds: Options {
      var options = self
      options.activationScore = -.greatestFiniteMagnitude
      options.highScore = -.greatestFiniteMagnitude
      return options
    }

    /// Makes options.
    public init(
      method: Method, activationScore: Double, highScore: Double = 0.6, minimumOverlap: Double,
      minimumHits: Int,
      maximumLostTime: Double = 1, frameRate: Double = 30, matchesWithinClass: Bool = false,
      maximumDetections: Int = 1000
    ) {
      self.method = method
      self.activationScore = activationScore
      self.highScore = highScore
      self.minimumOverlap = minimumOverlap
      self.minimumHits = minimumHits
      self.maximumLostTime = maximumLostTime
      self.frameRate = frameRate
      self.matchesWithinClass = matchesWithinClass
      self.maximumDetections = maximumDetections
    }

    /// ``maximumLostTime`` with what rounding may add to a sum of times.
    var lostTimeLimit: Double { maximumLostTime + 1e-6 }

    /// The frames for which a lost track is kept where no times are given.
    var maximumLostFrames: Int {
      // The product of a rate and a time such as 1/3 may lie a rounding above a whole number.
      maximumLostTime > 0 ? max(1, Int((maximumLostTime * frameRate - 1e-9).rounded(.up))) : 0
    }

    /// Throws `invalidArgument` for a value outside its range.
    func check() throws(TrackingError) {
      func require(_ holds: Bool, _ name: String, _ value: some CustomStringConvertible, _ range: String)
        throws(TrackingError)
      {
        guard holds else {
          throw TrackingError(.invalidArgument, "\(name) is \(value), not \(range)")
        }
      }
      try require(activationScore.isFinite, "activationScore", activationScore, "a finite number")
      try require(highScore.isFinite, "highScore", highScore, "a finite number")
      try require(
        minimumOverlap > 0 && minimumOverlap <= 1, "minimumOverlap", minimumOverlap, "above 0 and at most 1")
      try require((1...1_000_000).contains(minimumHits), "minimumHits", minimumHits, "1 to 1000000")
      try require(
        (0...86_400).contains(maximumLostTime), "maximumLostTime", maximumLostTime, "0 to 86400 seconds")
      try require(
        frameRate > 0 && frameRate <= 10_000, "frameRate", frameRate,
        "above 0 and at most 10000 frames per second")
      try require(
        (1...4096).contains(maximumDetections), "maximumDetections", maximumDetections, "1 to 4096")
    }
  }
}
