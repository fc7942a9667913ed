import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus detect`: objects in pictures.
struct DetectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "detect", abstract: "Finds objects in pictures.",
    discussion: """
      Without a model, the embedded one finds triangles, rectangles, pentagons and circles. Without a picture, too, it \
      does so in the embedded picture and writes that with its boxes to \(Self.embeddedAnnotation) in the current folder.
      """)

  /// Where the embedded picture goes.
  static let embeddedAnnotation = "apus-detections.png"

  @Argument(help: "Pictures: JPEG, PNG, BMP or PNM.")
  var image: [String] = []

  @Option(name: .long, help: "A .tflite detector; without it, the embedded one.")
  var model: String?

  @Option(name: .long, help: "The label file; without it, the labels inside the model.")
  var labels: String?

  @Option(name: .long, help: "How many rows of the labels lie before class 0; found out if not given.")
  var labelOffset: Int?

  @Option(name: .long, help: "The least score.")
  var scoreThreshold: Float = 0.5

  @Option(name: .long, help: "The most objects in a picture, the best ones.")
  var maxResults = 10

  @Option(name: .long, help: "A label to answer with, and no others but those of further --allow.")
  var allow: [String] = []

  @Option(name: .long, help: "A label to leave out.")
  var deny: [String] = []

  @Option(name: .long, help: "Where to write the picture with boxes and labels: .png, .jpg or .ppm.")
  var annotate: String?

  @Option(name: .long, help: "How pictures of other proportions are fitted in.")
  var fit = PictureFit.stretch

  @Option(name: .long, help: "The picture's size in a model that leaves it open, for example 640x480.")
  var inputSize: String?

  @OptionGroup var engine: EngineOptions

  @Flag(help: "Print one JSON object for each picture.")
  var json = false

  func run() throws {
    guard annotate == nil || image.count <= 1 else {
      throw ApusError(.invalidArgument, "--annotate takes one picture, not \(image.count)")
    }
    guard model == nil || !image.isEmpty else {
      throw ApusError(.invalidArgument, "a model is given, but no picture")
    }
    if let annotate, ![.png, .jpeg, .pnm].contains(ImageFileFormat(path: annotate)) {
      throw ApusError(.invalidArgument, "--annotate \(annotate) is not a .png, .jpg or .ppm file")
    }
    let detector = try makeDetector()
    if let labelOffset, let rows = detector.labels?.rowCount, labelOffset >= rows {
      throw ApusError(
        .invalidArgument, "the label offset is \(labelOffset), but there are only \(rows) rows of labels")
    }
    if image.isEmpty {
      try detect(
        in: ImageBuffer(decoding: EmbeddedShapes.pictureBytes), named: "embedded picture", with: detector,
        annotation: annotate ?? Self.embeddedAnnotation)
    }
    for path in image {
      try detect(in: ImageBuffer(contentsOfFile: path), named: path, with: detector, annotation: annotate)
    }
  }

  /// Width and height, as in `640x480`.
  private static func size(_ text: String) throws(ApusError) -> (width: Int, height: Int) {
    let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard parts.count == 2, parts.allSatisfy({ (1...1 << 16).contains($0) }) else {
      throw ApusError(.invalidArgument, "--input-size \(text) is not WIDTHxHEIGHT")
    }
    return (parts[0], parts[1])
  }

  private func makeDetector() throws -> ObjectDetector {
    var options = ObjectDetector.Options()
    options.scoreThreshold = scoreThreshold
    options.maxResults = maxResults
    options.labelAllowList = allow
    options.labelDenyList = deny
    options.labelOffset = labelOffset
    options.fit = fit.policy
    options.inputSize = try inputSize.map(Self.size)
    options.interpreter = try engine.interpreterOptions
    let labels = try labels.map { path throws(ApusError) in try LabelMap(contentsOfFile: path) }
    if let model {
      return try ObjectDetector(model: Model(contentsOfFile: model), labels: labels, options: options)
    }
    return try ObjectDetector.shapes(labels: labels, options: options)
  }

  private func detect(
    in picture: ImageBuffer, named name: String, with detector: ObjectDetector, annotation: String?
  ) throws {
    let detections = try detector.detect(picture)
    if let annotation { try picture.drawing(detections).write(toFile: annotation) }
    if json {
      try Output.writeJSON(DetectionReport(name, picture, detections, detector.lastTimings))
      return
    }
    let objects = "\(detections.count) \(detections.count == 1 ? "object" : "objects")"
    Output.write("\(name), \(picture.uprightWidth) × \(picture.uprightHeight) pixels: \(objects)")
    if !detections.isEmpty {
      var rows = [["label", "score", "x", "y", "width", "height"]]
      for detection in detections {
        let rect = detection.rect
        rows.append(
          [detection.category.name, decimal(Double(detection.score), 3)]
            + [rect.x, rect.y, rect.width, rect.height].map { decimal(Double($0), 1) })
      }
      Output.write(table(rows, rightAligned: [1, 2, 3, 4, 5]))
    }
    let timings = detector.lastTimings
    Output.write(
      "\(decimal(timings.preprocess, 1)) ms preprocessing, \(decimal(timings.inference, 1)) ms inference, "
        + "\(decimal(timings.postprocess, 1)) ms postprocessing")
    if let annotation { Output.write("annotated → \(annotation)") }
  }
}
