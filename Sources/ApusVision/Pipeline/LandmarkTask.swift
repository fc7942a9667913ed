// SPDX-License-Identifier: Apache-2.0
import Apus

/// A hand, a face or a person with landmarks, as a task returns it.
public protocol LandmarkSubject: Sendable {
  /// The points, in pixels of the picture.
  var landmarks: [Landmark] { get set }
  /// The points in space, in meters; by default none.
  var worldLandmarks: [WorldLandmark] { get set }
  /// Points in the picture that are none of the landmarks, and from which ``nextRegion`` comes; by default none.
  var regionPoints: [PixelPoint] { get set }
  /// Where the model looked.
  var region: Region { get }
  /// Where to look for it in the next frame.
  var nextRegion: Region { get }
  /// The unit in which the speed of its points is measured, in pixels; by default the mean of the width and the height of all points.
  var speedUnit: Float { get }
}

extension LandmarkSubject {
  /// No points: setting them does nothing.
  public var worldLandmarks: [WorldLandmark] {
    get { [] }
    set {}
  }

  /// No points: setting them does nothing.
  public var regionPoints: [PixelPoint] {
    get { [] }
    set {}
  }

  /// The mean of the width and the height of all points.
  public var speedUnit: Float {
    let (xs, ys) = (landmarks.map(\.x), landmarks.map(\.y))
    return ((xs.max() ?? 0) - (xs.min() ?? 0) + (ys.max() ?? 0) - (ys.min() ?? 0)) / 2
  }
}

/// The result of a task that finds landmarks.
public protocol LandmarkResult: VisionResult {
  /// The type of the subjects that the task finds.
  associatedtype Subject: LandmarkSubject
  /// The subjects that were found; in frames, those that were tracked come first.
  var subjects: [Subject] { get set }
}

/// A task that finds subjects with landmarks, and can follow them from frame to frame.
public protocol LandmarkTask: VisionTask where Answer: LandmarkResult {
  /// The result for a frame, given where the subjects of the frame before are expected.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - regions: ``LandmarkSubject/nextRegion`` of each subject of the frame before. The detector runs only if they are fewer than
  ///     the maximum number of subjects.
  ///   - area: The part of the frame that the detector searches; nil for all of it.
  ///   - cancellation: A flag that stops the run.
  func follow(
    _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?
  ) throws(ApusError) -> Answer

  /// The result for a frame whose landmarks are changed before anything else is measured from them, such as the expressions of a face.
  ///
  /// By default, nothing else is measured.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - regions: ``LandmarkSubject/nextRegion`` of each subject of the frame before.
  ///   - area: The part of the frame that the detector searches; nil for all of it.
  ///   - cancellation: A flag that stops the run.
  ///   - adjust: Changes the subjects that were found, such as smooths their landmarks; called once.
  func follow(
    _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?,
    adjusting adjust: (inout Answer) -> Void
  ) throws(ApusError) -> Answer
}

extension LandmarkTask {
  /// The result for a frame, changed at the end.
  public func follow(
    _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?,
    adjusting adjust: (inout Answer) -> Void
  ) throws(ApusError) -> Answer {
    var result = try follow(frame, after: regions, in: area, cancellation: cancellation)
    adjust(&result)
    return result
  }

  /// Files are never reduced while they are read: regions may need every pixel.
  public var imageReduction: ImageReduction { .none }
}
