// SPDX-License-Identifier: Apache-2.0
import ApusSystem  // Links the functions of mathematics.

/// The Kalman filter of a box: what its four coordinates are, and their noise.
struct BoxMotion: Hashable, Sendable, Codable {
  /// Which four coordinates of a box move independently.
  enum Coordinates: String, Hashable, Sendable, Codable {
    /// The center, the area, and the ratio of width to height, which has no velocity (Bewley et al., "Simple Online and Realtime
    /// Tracking", 2016, equation 1).
    case centerAreaRatio
    /// The left, top, right and bottom edge.
    case edges

    /// The noise of the coordinate at `index`: 0 and 1 are the center, 2 is the area and 3 the ratio, unless there are edges.
    fileprivate func noise(_ index: Int) -> KalmanAxis.Noise {
      switch (self, index) {
      case (.edges, _):
        KalmanAxis.Noise(
          measurement: 0.1, position: 0.01, velocity: 0.01, initialPosition: 1, initialVelocity: 1)
      case (_, 0), (_, 1):
        KalmanAxis.Noise(
          measurement: 1, position: 1, velocity: 0.01, initialPosition: 10, initialVelocity: 10_000)
      case (_, 2):
        KalmanAxis.Noise(
          measurement: 10, position: 1, velocity: 0.0001, initialPosition: 10, initialVelocity: 10_000)
      default:
        KalmanAxis.Noise(measurement: 10, position: 1, velocity: 0, initialPosition: 10, initialVelocity: 0)
      }
    }
  }

  private let coordinates: Coordinates
  private var first: KalmanAxis
  private var second: KalmanAxis
  private var third: KalmanAxis
  private var fourth: KalmanAxis

  /// Starts at a box, at rest.
  init(_ box: TrackingBox, _ coordinates: Coordinates) {
    self.coordinates = coordinates
    let values = Self.measurement(box, coordinates)
    first = KalmanAxis(values.0, coordinates.noise(0))
    second = KalmanAxis(values.1, coordinates.noise(1))
    third = KalmanAxis(values.2, coordinates.noise(2))
    fourth = KalmanAxis(values.3, coordinates.noise(3))
  }

  /// Whether every value is finite, and an area positive.
  var isUsable: Bool {
    first.isFinite && second.isFinite && third.isFinite && fourth.isFinite
      && (coordinates == .edges || third.position > 0 && fourth.position > 0)
  }

  /// Moves on by `step` nominal frames.
  mutating func predict(_ step: Double, isNominal: Bool) {
    // An area that would vanish stops shrinking.
    if coordinates == .centerAreaRatio, third.position + step * third.velocity <= 0 { third.velocity = 0 }
    first.predict(step, isNominal: isNominal, coordinates.noise(0))
    second.predict(step, isNominal: isNominal, coordinates.noise(1))
    third.predict(step, isNominal: isNominal, coordinates.noise(2))
    fourth.predict(step, isNominal: isNominal, coordinates.noise(3))
  }

  /// Corrects the estimate by a detected box.
  mutating func update(_ box: TrackingBox) {
    let values = Self.measurement(box, coordinates)
    first.update(values.0, coordinates.noise(0))
    second.update(values.1, coordinates.noise(1))
    third.update(values.2, coordinates.noise(2))
    fourth.update(values.3, coordinates.noise(3))
  }

  /// The estimated box.
  var box: TrackingBox {
    switch coordinates {
    case .edges:
      return TrackingBox(
        minX: first.position, minY: second.position, maxX: third.position, maxY: fourth.position)
    case .centerAreaRatio:
      let width = (third.position * fourth.position).squareRoot()
      let height = width > 0 ? third.position / width : 0
      return TrackingBox(
        minX: first.position - width / 2, minY: second.position - height / 2,
        maxX: first.position + width / 2,
        maxY: second.position + height / 2)
    }
  }

  /// The center's movement per nominal frame.
  var velocity: TrackingPoint {
    switch coordinates {
    case .edges:
      TrackingPoint(x: (first.velocity + third.velocity) / 2, y: (second.velocity + fourth.velocity) / 2)
    case .centerAreaRatio: TrackingPoint(x: first.velocity, y: second.velocity)
    }
  }

  private static func measurement(_ box: TrackingBox, _ coordinates: Coordinates)
    -> (Double, Double, Double, Double)
  {
    switch coordinates {
    case .edges: (box.minX, box.minY, box.maxX, box.maxY)
    case .centerAreaRatio:
      (box.center.x, box.center.y, box.width * box.height, box.width / box.height)
    }
  }
}
