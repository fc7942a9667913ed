// SPDX-License-Identifier: Apache-2.0

/// A Kalman filter of one coordinate that moves with constant velocity.
///
/// A box's coordinates have independent noise, so the filter of a box with 7 or 8 states is exactly four of these
/// (R. E. Kalman, "A New Approach to Linear Filtering and Prediction Problems", 1960).
struct KalmanAxis: Hashable, Sendable, Codable {
  /// The variances of a coordinate; only their ratios matter.
  struct Noise: Hashable, Sendable {
    /// The variance of a measured position.
    var measurement: Double
    /// The variance that the position gains in a nominal frame.
    var position: Double
    /// The variance that the velocity gains in a nominal frame; zero, with a zero ``initialVelocity``, if the coordinate does not
    /// move.
    var velocity: Double
    /// The variance of the first position.
    var initialPosition: Double
    /// The variance of the first velocity.
    var initialVelocity: Double

    /// Whether the coordinate has a velocity.
    var moves: Bool { velocity > 0 || initialVelocity > 0 }
  }

  /// The estimated position.
  private(set) var position: Double
  /// The estimated velocity per nominal frame.
  var velocity: Double
  // The covariance: of the position, of both, of the velocity.
  private var variance: Double
  private var covariance: Double
  private var velocityVariance: Double

  /// Starts at a measured position, at rest.
  init(_ position: Double, _ noise: Noise) {
    self.position = position
    velocity = 0
    variance = noise.initialPosition
    covariance = 0
    velocityVariance = noise.initialVelocity
  }

  /// Whether every value is finite.
  var isFinite: Bool {
    position.isFinite && velocity.isFinite && variance.isFinite && covariance.isFinite
      && velocityVariance.isFinite
  }

  /// Moves on by `step` nominal frames.
  ///
  /// - Parameter isNominal: Whether the step counts as one frame, whose noise is that of the options. For others, the noise is that
  ///   of a random acceleration that is constant during the step (Bar-Shalom et al., "Estimation with Applications to Tracking and
  ///   Navigation", 2001, 6.3.2).
  mutating func predict(_ step: Double, isNominal: Bool, _ noise: Noise) {
    position += step * velocity
    variance += 2 * step * covariance + step * step * velocityVariance
    covariance += step * velocityVariance
    if isNominal || !noise.moves {
      variance += noise.position
      velocityVariance += noise.velocity
    } else {
      let square = step * step
      variance += noise.velocity * square * square / 4
      covariance += noise.velocity * square * step / 2
      velocityVariance += noise.velocity * square
    }
  }

  /// Corrects the estimate by a measured position. The covariance is updated in Joseph's form, which stays positive.
  mutating func update(_ measured: Double, _ noise: Noise) {
    let total = variance + noise.measurement
    let gain = variance / total
    let velocityGain = covariance / total
    let innovation = measured - position
    position += gain * innovation
    velocity += velocityGain * innovation
    let rest = 1 - gain
    let newVariance = rest * rest * variance + gain * gain * noise.measurement
    let newCovariance =
      rest * (covariance - velocityGain * variance) + gain * velocityGain * noise.measurement
    velocityVariance += velocityGain * (velocityGain * total - 2 * covariance)
    variance = newVariance
    covariance = newCovariance
  }
}
