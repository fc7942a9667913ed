// SPDX-License-Identifier: Apache-2.0
import ApusTracking

/// The filters of one hand, face or person that is followed from frame to frame.
struct SubjectFilter: Sendable {
  /// How far visibilities move towards new ones.
  private static let visibilityWeight: Float = 0.1

  private let smoothsRegions: Bool
  private var landmarks: OneEuroFilter
  private var worldLandmarks = OneEuroFilter.worldLandmarks
  private var regionPoints = OneEuroFilter.regionPoints
  private var visibilities: [Float?] = []

  /// Makes the filters for a subject's first frame.
  init(_ smoothing: LandmarkSmoothing) {
    landmarks = smoothing.filter
    smoothsRegions = smoothing.smoothsRegions
  }

  /// Smooths what was found of the subject in its next frame.
  ///
  /// - Parameter time: The frame's time in seconds, later than that of the frame before.
  mutating func smooth(_ subject: inout some LandmarkSubject, at time: Double) {
    // Speeds are in sizes of the subject, so that near and distant ones are smoothed alike.
    let unit = unit(of: subject)
    var points = subject.landmarks
    smoothVisibilities(of: &points)
    if unit > 1e-6,
      let values = try? landmarks.filter(
        points.flatMap { [Double($0.x), Double($0.y), Double($0.z)] }, at: time, unit: unit)
    {
      for index in points.indices {
        points[index].x = Float(values[3 * index])
        points[index].y = Float(values[3 * index + 1])
        points[index].z = Float(values[3 * index + 2])
      }
    }
    subject.landmarks = points
    let space = subject.worldLandmarks
    if !space.isEmpty,
      let values = try? worldLandmarks.filter(
        space.flatMap { [Double($0.x), Double($0.y), Double($0.z)] }, at: time)
    {
      subject.worldLandmarks = space.indices.map { index in
        WorldLandmark(
          x: Float(values[3 * index]), y: Float(values[3 * index + 1]), z: Float(values[3 * index + 2]))
      }
    }
    let places = subject.regionPoints
    if smoothsRegions, !places.isEmpty, unit > 1e-6,
      let values = try? regionPoints.filter(
        places.flatMap { [Double($0.x), Double($0.y)] }, at: time, unit: unit)
    {
      subject.regionPoints = places.indices.map { index in
        PixelPoint(x: Float(values[2 * index]), y: Float(values[2 * index + 1]))
      }
    }
  }

  /// The filters for frames of another size, whose positions are these, multiplied.
  func scaled(x: Float, y: Float) -> SubjectFilter {
    var scaled = self
    scaled.landmarks.scale(by: [Double(x), Double(y), Double(x)])
    scaled.regionPoints.scale(by: [Double(x), Double(y)])
    return scaled
  }

  /// The unit in which speeds in the picture are measured, in pixels.
  private func unit(of subject: some LandmarkSubject) -> Double {
    let places = subject.regionPoints
    guard smoothsRegions, places.count == 2 else { return Double(subject.speedUnit) }
    let (x, y) = (places[1].x - places[0].x, places[1].y - places[0].y)
    return 2 * Double((x * x + y * y).squareRoot())
  }

  private mutating func smoothVisibilities(of points: inout [Landmark]) {
    if visibilities.count == points.count {
      for index in points.indices {
        guard let new = points[index].visibility, let last = visibilities[index] else { continue }
        points[index].visibility = last + Self.visibilityWeight * (new - last)
      }
    }
    visibilities = points.map(\.visibility)
  }
}
