// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision

/// Runs a task with landmarks on pictures, or on the frames of a video one after the other.
struct LandmarkRunner<Task: LandmarkTask> {
  let task: Task
  let sources: PictureSources
  let pictures: PictureOptions
  let frames: FrameOptions
  let annotation: AnnotationOptions
  let input: RegionInputOptions
  /// Whether the next picture may decide how all later ones are read.
  let isUndecided: @Sendable () -> Bool
  let text: @Sendable (Task.Answer) -> String
  let draw: @Sendable (ImageBuffer, Task.Answer) throws(ApusError) -> ImageBuffer
  /// How landmarks of frames are smoothed, unless they are not.
  var smoothing = LandmarkSmoothing()
  /// Changes a result before it is printed, given the picture's position among the sources.
  var complete: (@Sendable (Int, inout Task.Answer) -> Void)?
  /// Further work on a result, given the picture's position among the sources.
  var finish: (@Sendable (Int, ImageBuffer, Task.Answer) throws(ApusError) -> Void)?

  func run() throws {
    let (task, region) = (task, input.region)
    var answer: @Sendable (ImageBuffer, Int) throws(ApusError) -> Task.Answer = {
      image, _ throws(ApusError) in
      try task.answer(image, in: region, cancellation: nil)
    }
    if let fps = frames.fps {
      let tracker = LandmarkTracker(task, smoothing: frames.noSmoothing ? nil : smoothing)
      // A frame that cannot be read takes its time, too.
      answer = { image, place throws(ApusError) in
        try tracker.track(image, at: Double(place) / fps, in: region)
      }
    }
    if let complete {
      let found = answer
      answer = { image, place throws(ApusError) in
        var result = try found(image, place)
        complete(place, &result)
        return result
      }
    }
    let isVideo = frames.fps != nil
    try PictureRunner(
      sources: sources, options: pictures, annotations: try annotation.files(for: sources),
      annotationFolder: annotation.annotateDir, warnings: TaskWarnings { task.assumptions.warnings },
      // Frames are processed in their order.
      isUndecided: { [isUndecided] in isVideo || isUndecided() }, answer: answer, text: text, draw: draw,
      finish: finish
    ).run()
  }
}
