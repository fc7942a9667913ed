// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

extension WatchTask {
  /// How the models of a task with landmarks run.
  func interpreterOptions(_ command: WatchCommand) throws -> Interpreter.Options {
    try command.input.baseOptions(pictures: Self.pictures).interpreter
  }

  /// A function that follows what a task finds from frame to frame.
  ///
  /// - Parameters:
  ///   - category: The category of what was found, as an object with a box around its points.
  ///   - draw: Draws a result on its frame.
  func follow<Task: LandmarkTask>(
    _ task: Task, _ command: WatchCommand, category: @escaping (Task.Answer.Subject) -> Category,
    draw: @escaping (ImageBuffer, Task.Answer) throws(ApusError) -> ImageBuffer
  ) throws -> Finder {
    let region = try command.input.regionRect
    let tracker = LandmarkTracker(task, smoothing: command.landmarks.smoothing(for: self))
    return Finder(task) { picture, time throws(ApusError) in
      let result = try tracker.track(picture, at: time, in: region)
      let detections = result.subjects.compactMap { subject in
        Self.detection(
          category(subject), around: subject.landmarks, width: result.imageWidth, height: result.imageHeight)
      }
      return WatchFinding(detections: detections, result: result, timings: result.timings) {
        picture throws(ApusError) in try draw(picture, result)
      }
    }
  }

  /// An object whose box spans some points; nil if they span none.
  static func detection(_ category: Category, around points: [Landmark], width: Int, height: Int)
    -> Detection?
  {
    guard let rect = PixelRect(around: points), rect.width > 0, rect.height > 0, width > 0, height > 0 else {
      return nil
    }
    let (width, height) = (Float(width), Float(height))
    return Detection(
      category: category,
      boundingBox: BoundingBox(
        minX: rect.x / width, minY: rect.y / height, maxX: rect.maxX / width, maxY: rect.maxY / height),
      rect: rect)
  }
}
