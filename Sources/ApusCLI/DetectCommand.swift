// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusImages
import ApusShapes
import ApusVision
import ArgumentParser

/// `apus detect`: objects in pictures.
struct DetectCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "detect", abstract: "Finds objects in pictures.",
    discussion: """
      Without a model, the embedded one finds triangles, rectangles, pentagons and
      circles. If no picture is given either, it uses the embedded picture, and
      draws the boxes into \(Self.embeddedAnnotation) in the current folder.

      For example:
        apus detect street.jpg --model yolo11n.tflite --annotate found.png
        apus detect photos --recursive --model detect.tflite --json > found.jsonl
      """)

  /// Where the embedded picture goes.
  static let embeddedAnnotation = "apus-detections.png"

  @OptionGroup var pictures: PictureOptions

  @Option(name: .long, help: "A .tflite detector, of the kinds of --layout; without it, the embedded one.")
  var model: String?

  @OptionGroup var detectorOptions: DetectorOptions

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: ModelInputOptions

  func run() throws {
    let isEmbedded = pictures.image.isEmpty
    if isEmbedded, model != nil { throw ValidationError("a model is given, but no picture") }
    let sources =
      isEmbedded
      ? [PictureSource(name: "embedded picture", embedded: EmbeddedShapes.pictureBytes)]
      : try pictures.sources()
    var files = try annotation.files(for: sources)
    if isEmbedded, files.isEmpty { files = [Self.embeddedAnnotation] }
    let region = try input.regionRect
    let detector = try detectorOptions.detector(model, input, pictures: sources.count)
    try PictureRunner(
      sources: sources, options: pictures, annotations: files, annotationFolder: annotation.annotateDir,
      reduction: input.reduction(for: detector),
      warnings: TaskWarnings { detector.assumptions.warnings }, isUndecided: { detector.isUndecided },
      answer: { image, _ throws(ApusError) in try detector.detect(image, in: region) },
      text: Self.text,
      draw: { [time = input.limits.time, isShared = sources.count > 1] image, result throws(ApusError) in
        try image.drawing(result.detections, time.watch("drawing", isShared: isShared))
      }
    ).run()
  }

  private static func text(_ result: DetectionResult) -> String {
    let detections = result.detections
    let objects = "\(detections.count) \(detections.count == 1 ? "object" : "objects")"
    if detections.isEmpty { return objects }
    var rows = [["label", "score", "x", "y", "width", "height"]]
    for detection in detections {
      let rect = detection.rect
      rows.append(
        [detection.category.name, decimal(Double(detection.score), 3)]
          + [rect.x, rect.y, rect.width, rect.height].map { decimal(Double($0), 1) })
    }
    return objects + "\n" + table(rows, rightAligned: [1, 2, 3, 4, 5])
  }
}
