import Apus
import ApusFormat

/// Finds objects in pictures with a single-shot detector whose non-maximum suppression is part of the model, as in
/// most `detect.tflite` files.
///
/// ```swift
/// let detector = try ObjectDetector(modelFile: "detect.tflite", labelsFile: "labelmap.txt")
/// for detection in try detector.detect(picture) {
///   draw(detection.rect, detection.category.name, detection.score)
/// }
/// ```
///
/// A detector belongs to one thread at a time; several can share an `Apus.Model`.
public final class ObjectDetector {
  /// How to detect, as given.
  public let options: Options
  /// The names of the classes; nil where neither the caller nor the model has any.
  public let labels: LabelMap?
  /// How long the stages of the last successful ``detect(_:cancellation:)`` took; zeros before.
  public private(set) var lastTimings = StageTimings()

  private let interpreter: Interpreter
  private let input: ImageInput
  private let processor: ImageProcessor
  private let layout: DetectionLayout
  private let isListed: Set<Int>

  /// Makes a detector.
  ///
  /// - Parameters:
  ///   - model: The model: one picture in; boxes, classes, scores and mostly a count out, in any order.
  ///   - labels: The names of the classes; nil for those inside the model, see ``LabelMap/init(of:offset:)``.
  ///   - options: How to detect.
  /// - Throws: `invalidArgument` where the options contradict each other or the model is no such detector, or
  ///   what stops an `Apus.Interpreter`.
  public init(model: Model, labels: LabelMap? = nil, options: Options = Options()) throws(ApusError) {
    try options.check()
    self.options = options
    var labels = labels ?? LabelMap(of: model)
    if let offset = options.labelOffset { labels?.offset = offset }
    self.labels = labels
    isListed = try Self.indices(of: options.labelAllowList + options.labelDenyList, in: labels)
    let metadata = model.formatMetadata
    var interpreterOptions = options.interpreter
    if interpreterOptions.inputShapes.isEmpty {
      interpreterOptions.inputShapes = try ImageInput.openShape(
        of: model, wanted: options.inputSize, metadata?.inputs.first)
    }
    interpreter = try Interpreter(model: model, options: interpreterOptions)
    input = try ImageInput(
      of: interpreter, metadata: metadata?.inputs.first, size: options.inputSize, channels: options.channels,
      normalization: options.normalization)
    processor = try ImageProcessor(
      width: input.width, height: input.height, channels: input.channels, fit: options.fit,
      filter: options.filter)
    layout = try DetectionLayout(
      of: model, shapes: interpreter.outputs.map(\.shape), metadata: metadata, chosen: options.outputs)
  }

  /// Makes a detector of files.
  ///
  /// - Parameters:
  ///   - modelFile: The `.tflite` file.
  ///   - labelsFile: The label file; nil for the labels inside the model.
  ///   - options: How to detect.
  /// - Throws: `unreadableFile`, `malformedModel`, `malformedLabels`, or what the other initializer throws.
  public convenience init(
    modelFile: String, labelsFile: String? = nil, options: Options = Options()
  ) throws(ApusError) {
    var labels: LabelMap?
    if let labelsFile { labels = try LabelMap(contentsOfFile: labelsFile) }
    try self.init(model: Model(contentsOfFile: modelFile), labels: labels, options: options)
  }

  /// The width of the model's input, in pixels.
  public var inputWidth: Int { input.width }

  /// The height of the model's input, in pixels.
  public var inputHeight: Int { input.height }

  /// Which output of the model holds what.
  public var outputs: DetectionOutputs { layout.outputs }

  /// Finds objects in a picture: best first, equal scores in the model's order.
  ///
  /// Boxes are those of the picture as it is seen, after its orientation; they may reach outside it. Rows that the
  /// model does not count are ignored, and so are rows whose box or class is not a finite number.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - cancellation: A flag that is looked at before each operator.
  /// - Throws: `cancelled`, or what only the data of a run can cause.
  public func detect(_ image: ImageBuffer, cancellation: Cancellation? = nil) throws(ApusError) -> [Detection]
  {
    let clock = ContinuousClock()
    let start = clock.now
    let prepared = processor.prepare(image)
    try input.write(prepared, to: interpreter)
    let ready = clock.now
    try interpreter.invoke(cancellation: cancellation)
    let done = clock.now
    let detections = try detections(in: prepared.transform)
    lastTimings = StageTimings(
      preprocess: ready.milliseconds(since: start), inference: done.milliseconds(since: ready),
      postprocess: clock.now.milliseconds(since: done))
    return detections
  }

  private func detections(in transform: ImageTransform) throws(ApusError) -> [Detection] {
    let outputs = layout.outputs
    var objects: Float?
    if let count = outputs.count { objects = try interpreter.dequantizedOutput(at: count).first ?? 0 }
    let rows = DetectionRows(
      boxes: try interpreter.dequantizedOutput(at: outputs.boxes),
      classes: try interpreter.dequantizedOutput(at: outputs.classes),
      scores: try interpreter.dequantizedOutput(at: outputs.scores),
      objects: objects, rowsPerObject: layout.rowsPerObject, isAmbiguous: layout.isAmbiguous)
    let allows = !options.labelAllowList.isEmpty
    let selected = rows.selected(scoreThreshold: options.scoreThreshold) { index in
      isListed.contains(index) == allows
    }
    return selected.prefix(options.maxResults ?? selected.count).map { row in
      Detection(
        category: Category(index: row.index, score: row.score, label: labels?[row.index]),
        boundingBox: transform.imageBox(ofModelBox: row.box), rect: transform.imageRect(ofModelBox: row.box))
    }
  }

  private static func indices(of names: [String], in labels: LabelMap?) throws(ApusError) -> Set<Int> {
    var indices: Set<Int> = []
    for name in names {
      let found = labels?.indices(named: name) ?? []
      guard !found.isEmpty else {
        throw ApusError(
          .invalidArgument, "a list names the label '\(name)', which the model's labels have not")
      }
      indices.formUnion(found)
    }
    return indices
  }
}
