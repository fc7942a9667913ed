// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusTracking

/// How the landmarks of a video are smoothed, by 1 € filters: much while they rest, little while they move.
///
/// Speeds of points in the picture are in sizes of the subject a second, those of points in space in meters a second. The visibility of a
/// point moves by a tenth of the way to its new value in each frame. Its presence stays as the model gives it.
public struct LandmarkSmoothing: Hashable, Sendable {
  /// The filter for the points in the picture, as it is in a subject's first frame.
  let filter: OneEuroFilter

  /// Whether the points from which a body's next region comes are smoothed, too, see ``LandmarkSubject/regionPoints``: a person at rest is then
  /// looked for in the same place in each frame.
  ///
  /// MediaPipe's `HolisticLandmarker`, `mp.solutions.pose` and `mp.solutions.holistic` do so, its `PoseLandmarker` does not. Speeds in the picture
  /// are then in diameters of the circle around the body, without the margin of its region.
  public var smoothsRegions = false

  /// Makes a smoothing; the defaults are MediaPipe's for faces and bodies.
  ///
  /// - Parameters:
  ///   - minimumCutoff: The cutoff frequency at rest of points in the picture, above 0 hertz; less is smoother.
  ///   - beta: How much that cutoff frequency grows with the speed, in sizes of the subject a second; more lags less.
  ///   - derivativeCutoff: The cutoff frequency of the speed's own filter, above 0 hertz.
  /// - Throws: `invalidArgument`.
  public init(minimumCutoff: Double, beta: Double, derivativeCutoff: Double = 1) throws(ApusError) {
    do throws(TrackingError) {
      filter = try OneEuroFilter(
        minimumCutoff: minimumCutoff, beta: beta, derivativeCutoff: derivativeCutoff, comparesRawValues: true)
    } catch { throw ApusError(.invalidArgument, error.message) }
  }

  /// The smoothing of MediaPipe's `FaceLandmarker` and `PoseLandmarker`.
  public init() { filter = OneEuroFilter.landmarks }

  /// The smoothing of MediaPipe's `HolisticLandmarker`, `mp.solutions.pose` and `mp.solutions.holistic`, which includes regions.
  public static let withRegions: LandmarkSmoothing = {
    var smoothing = LandmarkSmoothing()
    smoothing.smoothsRegions = true
    return smoothing
  }()
}
