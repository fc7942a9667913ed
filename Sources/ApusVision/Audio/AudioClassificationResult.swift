// SPDX-License-Identifier: Apache-2.0

/// The classes of a sound.
public struct AudioClassificationResult: Hashable, Sendable {
  /// The classes of one window.
  public struct Window: Hashable, Sendable {
    /// Where the window begins.
    public let start: Duration
    /// The classes of each head; most models have one.
    public let classifications: [Classifications]

    /// Makes a window.
    public init(start: Duration, classifications: [Classifications]) {
      self.start = start
      self.classifications = classifications
    }

    /// The classes of the first head, best first.
    public var categories: [Category] { classifications.first?.categories ?? [] }
  }

  /// The length of the clip.
  public let duration: Duration
  /// The length of a window.
  public let windowDuration: Duration
  /// The windows, in order.
  public let windows: [Window]
  /// The classes of each head by their mean score over all windows, each counted by how much sound it has.
  public let means: [Classifications]
  /// The time of each stage, for all windows together.
  public let timings: StageTimings

  /// Makes a result.
  public init(
    duration: Duration, windowDuration: Duration, windows: [Window], means: [Classifications],
    timings: StageTimings = StageTimings()
  ) {
    self.duration = duration
    self.windowDuration = windowDuration
    self.windows = windows
    self.means = means
    self.timings = timings
  }

  /// The classes of the first head by their mean score over all windows, each counted by how much sound it has; best first.
  public var categories: [Category] { means.first?.categories ?? [] }

  /// The scores of a class over time, one for each window; nil if a window's result leaves the class out.
  public func scores(of index: Int, head: Int = 0) -> [Float?] {
    windows.map { window in
      guard window.classifications.indices.contains(head) else { return nil }
      return window.classifications[head].categories.first { $0.index == index }?.score
    }
  }
}

extension AudioClassificationResult: Encodable {
  private enum CodingKeys: String, CodingKey {
    case seconds, windowSeconds, windows
    case timings = "milliseconds"
  }

  private struct EncodedWindow: Encodable {
    let start: Double
    let end: Double
    let classifications: [Classifications]

    private enum CodingKeys: CodingKey {
      case start, end
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(start, forKey: .start)
      try container.encode(end, forKey: .end)
      try EncodedClassifications(classifications: classifications).encode(to: encoder)
    }
  }

  /// Encodes `seconds`, `windowSeconds`, `classes` by their means, `windows` with `start` and `end` in seconds (of the last
  /// one, the clip's) and `classes`, and `milliseconds`. Of several heads, `heads` stands for `classes`, as in ``ClassificationResult``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(duration / .seconds(1), forKey: .seconds)
    try container.encode(windowDuration / .seconds(1), forKey: .windowSeconds)
    try EncodedClassifications(classifications: means).encode(to: encoder)
    try container.encode(
      windows.map { window in
        EncodedWindow(
          start: window.start / .seconds(1), end: min(window.start + windowDuration, duration) / .seconds(1),
          classifications: window.classifications)
      }, forKey: .windows)
    try container.encode(timings, forKey: .timings)
  }
}
