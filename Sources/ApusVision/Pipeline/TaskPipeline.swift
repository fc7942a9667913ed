// SPDX-License-Identifier: Apache-2.0
import Apus

/// A task of two models with a region between them: the first finds where to look, the second looks.
///
/// A new task states its detector, how a box becomes a region, and how the second model's outputs become what was found:
///
/// ```swift
/// let pipeline = TaskPipeline(
///   detector: try AnchorDetector(detectorModel, .palms, …), reader: try RegionModel(landmarkModel, …), limit: 2,
///   trackingOverlap: 0.5,
///   region: { box in Region(box).squared(shiftedDown: -0.5, scaledBy: 2.6) },
///   read: { run, _, region, _ throws(ApusError) in try hand(run, region) })
/// ```
///
/// State between frames is the caller's: the regions where the last frame's subjects will be, see ``LandmarkTracker``.
struct TaskPipeline<Subject: PipelineSubject>: Sendable {
  /// Finds subjects in the whole picture.
  let detector: AnchorDetector
  /// Looks at the region of one subject.
  let reader: RegionModel
  /// The maximum number of subjects.
  let limit: Int
  /// The overlap above which what the detector finds is taken for a subject that is tracked already, and two that are tracked for one.
  let trackingOverlap: Float
  /// Whether two that are tracked stay two whatever their overlap, as hands do: they cross, and their points say whether they are one.
  var keepsOverlappingRegions = false
  /// Where to look for a subject that the detector found.
  let region: @Sendable (AnchoredBox) -> Region
  /// The second model's result for a region of a picture, given the region that it saw; nil if there is nothing.
  let read: @Sendable (ModelRun, PictureView, Region, Cancellation?) throws(ApusError) -> Subject?

  /// The subjects of a picture.
  ///
  /// - Parameters:
  ///   - tracked: Where the subjects of the frame before are expected: the detector runs only if they are fewer than the limit. Of those
  ///     that have become one, the last stays, so that the detector runs for the next frame. Nil for a picture that is no frame.
  /// - Returns: Those that are tracked first, then those that the detector found, best first.
  func subjects(
    in view: PictureView, after tracked: [Region]?, cancellation: Cancellation?
  ) throws(ApusError) -> (subjects: [Subject], timings: StageTimings) {
    var timings = StageTimings()
    var regions = Array((tracked ?? []).prefix(limit))
    let needsDetector = regions.count < limit
    if !keepsOverlappingRegions { regions = Region.separated(regions, maximumOverlap: trackingOverlap) }
    if needsDetector {
      let (boxes, times) = try detector.boxes(in: view, cancellation: cancellation)
      timings += times
      for box in boxes.prefix(limit) {
        let found = region(box)
        try found.check("a box with the score \(box.score)")
        guard tracked == nil || !regions.contains(where: { $0.overlap(with: found) > trackingOverlap })
        else { continue }
        regions.append(found)
      }
    }
    var subjects: [Subject] = []
    for region in regions.prefix(limit) {
      let (subject, times) = try reader.run(on: region, of: view, cancellation: cancellation) {
        run, seen throws(ApusError) in
        try read(run, view, seen, cancellation)
      }
      timings += times
      guard let subject, !subjects.contains(where: { subject.isDuplicate(of: $0) }) else { continue }
      subjects.append(subject)
    }
    return (subjects, timings)
  }
}

/// A subject that a pipeline finds: a hand, a face, a person.
protocol PipelineSubject: Sendable {
  /// Whether this is the other one once more, found through another region.
  func isDuplicate(of other: Self) -> Bool
}

extension PipelineSubject {
  /// By default, subjects of different regions are different.
  func isDuplicate(of other: Self) -> Bool { false }
}

extension Region {
  /// A region around a box in pixels.
  init(_ box: AnchoredBox) {
    let edges = box.box
    self.init(PixelRect(x: edges.minX, y: edges.minY, width: edges.width, height: edges.height))
  }
}
