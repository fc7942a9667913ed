// SPDX-License-Identifier: Apache-2.0

/// Smooths noisy values that come one after another, such as landmarks or the edges of a box: much while they rest, little while they move.
///
/// ```swift
/// var smoothing = try OneEuroFilter(beta: 0.05)
/// let smooth = try smoothing.filter([x, y], at: seconds)
/// ```
///
/// G. Casiez, N. Roussel and D. Vogel, "1 € Filter: A Simple Speed-Based Low-Pass Filter for Noisy Input in Interactive Systems", CHI
/// 2012. Each value has a filter of its own.
public struct OneEuroFilter: Hashable, Sendable, Codable {
  /// The cutoff frequency at rest, in hertz; less is smoother.
  public let minimumCutoff: Double
  /// How much the cutoff frequency grows with speed, per unit of the values; more lags less.
  public let beta: Double
  /// The cutoff frequency of the speed's own filter, in hertz.
  public let derivativeCutoff: Double
  /// Whether speeds are differences from the last raw values, as in the paper's listing and MediaPipe, rather than from the last smooth
  /// ones, as in the code of the paper's authors.
  public let comparesRawValues: Bool

  private var values: [Double] = []
  private var rawValues: [Double] = []
  private var speeds: [Double] = []
  private var lastTime: Double?

  /// Makes a filter.
  ///
  /// - Parameters:
  ///   - minimumCutoff: The cutoff frequency at rest, above 0 hertz.
  ///   - beta: How much the cutoff frequency grows with speed, 0 or more.
  ///   - derivativeCutoff: The cutoff frequency of the speed's own filter, above 0 hertz.
  ///   - comparesRawValues: Whether speeds are differences from the last raw values rather than from the last smooth ones.
  /// - Throws: `invalidArgument`.
  public init(
    minimumCutoff: Double = 1, beta: Double = 0, derivativeCutoff: Double = 1, comparesRawValues: Bool = false
  ) throws(TrackingError) {
    let limit = 1e9
    guard minimumCutoff > 0, minimumCutoff <= limit, derivativeCutoff > 0, derivativeCutoff <= limit,
      beta >= 0,
      beta <= limit
    else {
      throw TrackingError(
        .invalidArgument,
        """
        the cutoffs are \(minimumCutoff) and \(derivativeCutoff) Hz and beta is \(beta), not above 0, above 0 and \
        0 or more, each up to 1e9
        """)
    }
    self.minimumCutoff = minimumCutoff
    self.beta = beta
    self.derivativeCutoff = derivativeCutoff
    self.comparesRawValues = comparesRawValues
  }

  private init(trusted minimumCutoff: Double, _ beta: Double, _ derivativeCutoff: Double) {
    comparesRawValues = true
    self.minimumCutoff = minimumCutoff
    self.beta = beta
    self.derivativeCutoff = derivativeCutoff
  }

  /// MediaPipe's filter for the landmarks of faces and bodies; speeds are in object sizes per second.
  public static let landmarks = OneEuroFilter(trusted: 0.05, 80, 1)

  /// MediaPipe's filter for the points of bodies in space; speeds are in meters per second.
  package static let worldLandmarks = OneEuroFilter(trusted: 0.1, 40, 1)

  /// MediaPipe's filter for the two points that determine a body's next region. It smooths heavily, so that
  /// the region rests when the body does.
  package static let regionPoints = OneEuroFilter(trusted: 0.01, 10, 1)

  /// Smooths the next values.
  ///
  /// - Parameters:
  ///   - values: The values; as many as in the first call. The first ones are returned as they are.
  ///   - time: Their time in seconds, at least a nanosecond after the last one.
  ///   - unit: What counts as one when speeds are measured, such as the size of the object, above 0.
  /// - Throws: `invalidArgument` for another number of values, or one that is not finite, or beyond ±1e150; `invalidTime` for a
  ///   time that is not finite or not later. The filter is then as it was.
  public mutating func filter(
    _ values: [Double], at time: Double, unit: Double = 1
  ) throws(TrackingError) -> [Double] {
    guard unit >= 1e-9, unit <= 1e9 else {
      throw TrackingError(.invalidArgument, "the unit of speeds is \(unit), not 1e-9 to 1e9")
    }
    guard let bad = values.first(where: { !(abs($0) <= 1e150) }) else {
      return try filter(checked: values, at: time, unit: unit)
    }
    throw TrackingError(.invalidArgument, "a value is \(bad), not a finite number within ±1e150")
  }

  private mutating func filter(
    checked new: [Double], at time: Double, unit: Double
  ) throws(TrackingError) -> [Double] {
    guard time.isFinite, lastTime.map({ time - $0 >= 1e-9 }) ?? true else {
      throw TrackingError(
        .invalidTime,
        "the values' time is \(time), not a finite one at least a nanosecond after \(lastTime ?? 0) seconds")
    }
    guard let lastTime else {
      (values, rawValues) = (new, new)
      speeds = [Double](repeating: 0, count: new.count)
      self.lastTime = time
      return new
    }
    guard new.count == values.count else {
      throw TrackingError(.invalidArgument, "there are \(new.count) values, not \(values.count) as before")
    }
    let frequency = 1 / (time - lastTime)
    let speedWeight = weight(derivativeCutoff, frequency)
    for index in new.indices {
      let last = comparesRawValues ? rawValues[index] : values[index]
      let speed = (new[index] - last) / unit * frequency
      speeds[index] += speedWeight * (speed - speeds[index])
      values[index] +=
        weight(minimumCutoff + beta * abs(speeds[index]), frequency) * (new[index] - values[index])
    }
    (rawValues, self.lastTime) = (new, time)
    return values
  }

  /// Multiplies what is known of the values, whose unit changes: by one factor after the other, again from the first one after the last.
  ///
  /// Speeds stay, which are in the unit that ``filter(_:at:unit:)`` gets.
  package mutating func scale(by factors: [Double]) {
    guard !factors.isEmpty else { return }
    for index in values.indices {
      values[index] *= factors[index % factors.count]
      rawValues[index] *= factors[index % factors.count]
    }
  }

  /// Forgets all values.
  public mutating func removeAll() {
    (values, rawValues, speeds, lastTime) = ([], [], [], nil)
  }

  /// The weight of a new value for a cutoff frequency.
  private func weight(_ cutoff: Double, _ frequency: Double) -> Double {
    1 / (1 + frequency / (2 * .pi * cutoff))
  }
}

extension OneEuroFilter {
  private enum CodingKeys: CodingKey {
    case minimumCutoff, beta, derivativeCutoff, comparesRawValues, values, rawValues, speeds, lastTime
  }

  /// Decodes a filter, and checks it as if its values came from a stranger.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      minimumCutoff: container.decode(Double.self, forKey: .minimumCutoff),
      beta: container.decode(Double.self, forKey: .beta),
      derivativeCutoff: container.decode(Double.self, forKey: .derivativeCutoff),
      comparesRawValues: container.decode(Bool.self, forKey: .comparesRawValues))
    values = try container.decode([Double].self, forKey: .values)
    rawValues = try container.decode([Double].self, forKey: .rawValues)
    speeds = try container.decode([Double].self, forKey: .speeds)
    lastTime = try container.decodeIfPresent(Double.self, forKey: .lastTime)
    guard rawValues.count == values.count, speeds.count == values.count, lastTime?.isFinite ?? values.isEmpty,
      (values + rawValues + speeds).allSatisfy(\.isFinite)
    else { throw impossibleState("filter's", container.codingPath) }
  }
}
