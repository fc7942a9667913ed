// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusTracking

/// How the landmarks of a video are smoothed, by a 1 € filter: much while they rest, little while they move.
public struct LandmarkSmoothing: Hashable, Sendable {
  /// The filter of a subject's first frame.
  let filter: OneEuroFilter

  /// Makes a smoothing; the defaults are MediaPipe's for faces and bodies.
  ///
  /// - Parameters:
  ///   - minimumCutoff: The cutoff frequency at rest, above 0 hertz; less is smoother.
  ///   - beta: How much the cutoff frequency grows with the speed, in sizes of the subject a second; more lags less.
  ///   - derivativeCutoff: The cutoff frequency of the speed's own filter, above 0 hertz.
  /// - Throws: `invalidArgument`.
  public init(minimumCutoff: Double, beta: Double, derivativeCutoff: Double = 1) throws(ApusError) {
    do throws(TrackingError) {
      filter = try OneEuroFilter(
        minimumCutoff: minimumCutoff, beta: beta, derivativeCutoff: derivativeCutoff, comparesRawValues: true)
    } catch { throw ApusError(.invalidArgument, error.message) }
  }

  /// MediaPipe's smoothing for faces and bodies.
  public init() { filter = OneEuroFilter.landmarks }
}
