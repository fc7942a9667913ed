// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import NIOCore

/// The vision tasks of this build. What a new task needs is here: a case, how it is made, and what it answers.
public enum VisionTaskKind: String, CaseIterable, Hashable, Sendable {
  /// Objects with boxes.
  case detect
}

/// A task that is prepared for a model.
enum VisionTask {
  case detector(ObjectDetector)

  init(_ kind: VisionTaskKind, on instance: ModelInstance, settings: PictureTask.Settings) throws(ApusError) {
    switch kind {
    case .detect:
      var options = ObjectDetector.Options()
      options.scoreThreshold = settings.scoreThreshold ?? 0.5
      options.maxResults = settings.maximumResults ?? 10
      options.labelAllowList = settings.allowed
      options.labelDenyList = settings.denied
      options.fit = settings.fit ?? .stretch
      options.interpreter = instance.interpreterOptions
      self = .detector(
        try ObjectDetector(model: instance.served.model, labels: instance.served.labels, options: options))
    }
  }

  /// Finds what the task finds.
  func run(on picture: ImageBuffer, annotates: Bool, cancellation: Cancellation) throws(ApusError)
    -> PictureAnswer
  {
    switch self {
    case .detector(let detector):
      let detections = try detector.detect(picture, cancellation: cancellation)
      let timings = detector.lastTimings
      var annotated: ByteBuffer?
      if annotates { annotated = ByteBuffer(bytes: try picture.drawing(detections).encoded(as: .png)) }
      return PictureAnswer(
        json: Self.json(of: detections, in: picture, timings), annotated: annotated, timings: timings)
    }
  }

  private static func json(
    of detections: [Detection], in picture: ImageBuffer, _ timings: StageTimings
  ) -> ByteBuffer {
    var writer = JSONWriter()
    writer.object { writer in
      writer.field("width", picture.uprightWidth)
      writer.field("height", picture.uprightHeight)
      writer.key("detections")
      writer.array { writer in
        for detection in detections {
          writer.object { writer in
            writer.key("label")
            if let label = detection.label { writer.string(label) } else { writer.null() }
            writer.field("index", detection.index)
            writer.key("score")
            writer.number(detection.score)
            writer.key("box")
            writer.object { writer in
              for (name, value) in [
                ("x", detection.rect.x), ("y", detection.rect.y), ("width", detection.rect.width),
                ("height", detection.rect.height),
              ] {
                writer.key(name)
                writer.number(value)
              }
            }
          }
        }
      }
      writer.key("milliseconds")
      writer.object { writer in
        for (name, value) in [
          ("preprocess", timings.preprocess), ("inference", timings.inference),
          ("postprocess", timings.postprocess),
        ] {
          writer.key(name)
          writer.number(value)
        }
      }
    }
    return writer.buffer
  }
}

extension PictureTask {
  /// Decodes the picture and runs the task.
  func run(on instance: ModelInstance, cancellation: Cancellation) throws(ApusError) -> PictureAnswer {
    let task = try instance.tasks.task(kind, settings, on: instance)
    let picture = try ImageBuffer(decoding: file.array, limits: instance.pictureLimits)
    return try task.run(on: picture, annotates: annotates, cancellation: cancellation)
  }
}

/// Tasks that an instance has prepared, the latest last.
struct TaskCache {
  private static let maximumCount = 4
  private var tasks: [(kind: VisionTaskKind, settings: PictureTask.Settings, task: VisionTask)] = []

  mutating func task(
    _ kind: VisionTaskKind, _ settings: PictureTask.Settings, on instance: ModelInstance
  ) throws(ApusError) -> VisionTask {
    if let index = tasks.firstIndex(where: { $0.kind == kind && $0.settings == settings }) {
      return tasks[index].task
    }
    let task = try VisionTask(kind, on: instance, settings: settings)
    if tasks.count == Self.maximumCount { tasks.removeFirst() }
    tasks.append((kind, settings, task))
    return task
  }
}
