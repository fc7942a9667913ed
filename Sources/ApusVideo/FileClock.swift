// SPDX-License-Identifier: Apache-2.0

/// When the frames of a file are shown: times that grow, though those in the file may jump back.
///
/// Recorders that start again in the middle of a file begin anew at 0. ffmpeg mends that in MPEG-TS alone. A damaged file may have one time
/// that is far from those around it; whether the clock began anew is decided by the next one.
struct FileClock {
  /// The time of the first frame that the file says is shown at 0.
  let start: Double
  /// The frames per second where the file says no times, and between two of its clocks.
  private let frameRate: Double
  private var last: Double?
  /// The seconds that are added to the file's times.
  private var shift = 0.0

  /// The maximum step back that is no new clock, in seconds: that of a few frames out of order, after which times soon go on.
  private static let maximumStepBack = 0.5

  init(start: Double, frameRate: Double?) {
    self.start = start
    self.frameRate = frameRate ?? 25
  }

  /// Whether a time is so far from that of the frame before that the next one must be known.
  func isJump(_ stated: Double?) -> Bool {
    guard let last, let stated else { return false }
    let time = start + stated + shift
    return time < last - Self.maximumStepBack || time > last + reach
  }

  /// How long after a frame the next one is shown at most, unless the clock has jumped, in seconds.
  private var reach: Double { max(1, 10 / frameRate) }

  /// The time of a frame: as the file says, or else at its rate, but later than that of the frame before it.
  ///
  /// - Parameter next: What the file says of the next frame: if it goes on from the frame before this one, this one's time is damaged.
  mutating func time(ofFrame frame: Int, stated: Double?, next: Double? = nil) -> Double {
    if let last, let next, isJump(stated), last < start + next + shift,
      start + next + shift <= last + reach + 1 / frameRate
    {
      let time = min(last + 1 / frameRate, (last + start + next + shift) / 2)
      self.last = time
      return time
    }
    var time = start + (stated.map { $0 + shift } ?? Double(frame) / frameRate)
    if let last {
      if stated != nil, time < last - Self.maximumStepBack {
        shift += last + 1 / frameRate - time
        time = last + 1 / frameRate
      }
      time = max(time, last + 1e-6)
    }
    last = time
    return time
  }
}
