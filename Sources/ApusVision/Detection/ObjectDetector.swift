// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import Synchronization

/// Finds objects in pictures, with SSD and YOLO models: see ``DetectorLayout``.
///
/// ```swift
/// let detector = try ObjectDetector(modelFile: "detect.tflite", labelsFile: "labelmap.txt")
/// for detection in try detector.detect(picture).detections {
///   draw(detection.rect, detection.category.name, detection.score)
/// }
/// ```
///
/// The detector recognizes the kind of model by its operators, its metadata, and the names and shapes of its outputs;
/// ``assumptions`` says what it found. Any number of threads can share a detector.
public final class ObjectDetector: VisionTask {
  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model, updated by the answers so far.
  public var assumptions: TaskAssumptions {
    TaskAssumptions(
      task: "detector", kind: head.layout.rawValue, reason: head.reason, pictures: pictures,
      roles: head.roles, readings: head.readings, labels: names,
      steps: head.steps(criteria)
        + (describedMinimum.map { ["the minimum score \($0) is that of the metadata"] } ?? []),
      warnings: head.warnings + idleWarnings + beyondNames.warnings(names) + maskWarnings
        + (names == nil ? LabelSource.warnings(ofLocale: options.displayNamesLocale) : []))
  }

  let pictures: PictureModel
  private let head: any DetectionHead
  private let names: LabelSource?
  private let criteria: DetectionCriteria
  /// The minimum score of the metadata, if it counts.
  private let describedMinimum: Float?
  /// The minimum score where the caller gives none: that of the metadata, or else the layout's.
  package let usualScoreThreshold: Float
  /// Whether a score must be above the minimum, as in YOLO's own programs, rather than reach it.
  package var isThresholdExclusive: Bool { layout.isYOLO }
  private let beyondNames = ClassesBeyondNames()
  /// Whether an answer had more masks than it may.
  private let hasLeftOutMasks = Mutex(false)

  /// Makes a detector.
  ///
  /// - Parameters:
  ///   - model: The model: one picture in, boxes with classes and scores out.
  ///   - labels: The names of the classes; nil for those inside the model, see ``LabelMap/init(of:offset:)``.
  ///   - options: How to detect.
  /// - Throws: `invalidArgument` if the options contradict each other, the model is not a detector, or it can be one of
  ///   several kinds, which ``Options/layout`` then decides; errors of `Apus.Interpreter`.
  public init(model: Model, labels: LabelMap? = nil, options: Options = Options()) throws(ApusError) {
    try options.check()
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions)
    try prepared.refuseByteScores()
    if options.layout == nil, options.outputs == nil {
      try prepared.checkTask(["detect", "segment", "pose", "obb"], for: "detect")
    }
    var names = LabelSource(
      given: labels, of: prepared, locale: options.displayNamesLocale, offset: options.labelOffset)
    head = try Self.head(of: prepared, labels: names?.map, options: options)
    guard options.anchors == nil || head is AnchorHead else {
      throw ApusError(
        .invalidArgument,
        "anchors are given, but a model of the layout \(head.layout.rawValue) takes none: they are for raw heads of YOLO"
      )
    }
    try options.baseOptions.check(head.readings)
    if let count = head.classCount { names?.align(toClassCount: count, offset: options.labelOffset) }
    if let numbering = head.numbering { names?.align(to: numbering, offset: options.labelOffset) }
    self.names = names
    // Detectors have one output of scores.
    let described = prepared.outputs.indices.lazy.compactMap { prepared.minimumScore(of: $0) }.first
    describedMinimum = options.scoreThreshold == nil ? described : nil
    usualScoreThreshold = described ?? head.layout.defaultScoreThreshold
    criteria = DetectionCriteria(
      scoreThreshold: options.scoreThreshold ?? usualScoreThreshold,
      maxResults: options.maxResults ?? head.defaultMaxResults, maximumOverlap: options.maximumOverlap,
      isClassAgnostic: options.isClassAgnostic, isMultiLabel: options.isMultiLabel,
      categories: try CategorySelection(
        allowlist: options.categoryAllowlist, denylist: options.categoryDenylist, labels: names?.map))
    pictures = try PictureModel(prepared, defaults: head.pictureDefaults, lacksLabels: names == nil)
  }

  /// Warnings about options that change no step for this kind of model.
  private var idleWarnings: [String] {
    let usual = Options()
    let (steps, layout) = (head.steps(criteria), head.layout.rawValue)
    func isIdle(_ change: (inout DetectionCriteria) -> Void) -> Bool {
      var other = criteria
      change(&other)
      return head.steps(other) == steps
    }
    var idle: [String] = []
    if options.maximumOverlap != usual.maximumOverlap, isIdle({ $0.maximumOverlap = usual.maximumOverlap }) {
      idle.append("--iou-threshold")
    }
    if options.isClassAgnostic, isIdle({ $0.isClassAgnostic = false }) { idle.append("--class-agnostic") }
    if options.isMultiLabel, isIdle({ $0.isMultiLabel = false }) { idle.append("--multi-label") }
    if options.candidates != nil, !(head is YOLOHead),
      !head.readings.contains(where: { $0.subject == "candidates" })
    {
      idle.append("--candidates")
    }
    if options.boxOrder != nil, !head.readings.contains(where: { $0.subject == "box order" }) {
      idle.append("--box-order")
    }
    return idle.map { "\($0) changes nothing for a model of the layout \(layout)" }
  }

  /// Makes a detector from files.
  ///
  /// - Parameters:
  ///   - modelFile: The `.tflite` file.
  ///   - labelsFile: The label file; nil for the labels inside the model.
  ///   - options: How to detect.
  /// - Throws: `unreadableFile`, `malformedModel`, `malformedLabels`, or what the other initializer throws.
  public convenience init(
    modelFile: String, labelsFile: String? = nil, options: Options = Options()
  ) throws(ApusError) {
    try self.init(
      model: Model(contentsOfFile: modelFile), labels: LabelMap(ofFile: labelsFile), options: options)
  }

  // MARK: Facts

  /// The kind of model.
  public var layout: DetectorLayout { head.layout }

  /// Whether the next answer may decide how all later ones are read. Several at once would decide by chance.
  package var isUndecided: Bool { head.isUndecided }

  /// The names of the classes; nil if neither the caller nor the model has any.
  public var labels: LabelMap? { names?.map }

  /// How many classes the model has; nil if its outputs do not say.
  package var classCount: Int? { head.classCount }

  /// The width of the model's input, in pixels.
  public var inputWidth: Int { pictures.processor.width }

  /// The height of the model's input, in pixels.
  public var inputHeight: Int { pictures.processor.height }

  /// Which output of the model holds what; nil unless the layout is ``DetectorLayout/postProcessed``.
  public var outputs: DetectionOutputs? { (head as? PostProcessedHead)?.rows.outputs }

  // MARK: Detecting

  /// Finds objects in a picture, best first; equal scores keep the model's order.
  ///
  /// Boxes refer to the picture after orientation. Those of YOLO end at the picture's edges; others may reach beyond them.
  /// Scores that are not numbers are an error, and so are boxes and classes that are not where the score is enough. Boxes that no
  /// reading of the model can have are an error, too; beside others, those with scores below 0.05 are left out.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value;
  ///   `resourceLimit` if the run takes more than the options of `interpreter` allow.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> DetectionResult {
    try pictures.run(image, in: region, cancellation: cancellation, result)
  }

  /// Finds objects in a picture away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> DetectionResult
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> DetectionResult
  {
    try detect(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [DetectionResult]
  {
    try pictures.run(images, cancellation: cancellation, result)
  }

  private func result(of run: ModelRun, in placement: Placement) throws(ApusError) -> DetectionResult {
    var masks = (pixels: 0, runs: 0)
    let objects = try checked(head.objects(in: run, criteria))
    // The head has left out those for which its own memory did not suffice.
    if objects.contains(where: { $0.mask != nil }), objects.contains(where: { $0.mask == nil }) {
      hasLeftOutMasks.withLock { $0 = true }
    }
    let detections: [Detection] = objects.compactMap { object in
      var rect = placement.imageRect(ofModelBox: object.box)
      // An object of the bars around the picture is none of the picture's.
      if placement.isOutside(rect) { return nil }
      let corners = object.corners.map { corner in
        let point = placement.imagePoint(modelX: corner.x, modelY: corner.y)
        return PixelPoint(x: point.x, y: point.y)
      }
      if head.clipsBoxes { rect = placement.clipped(rect) }
      let keypointNames = object.keypoints.count == Keypoint.cocoNames.count ? Keypoint.cocoNames : nil
      return Detection(
        category: names?.category(index: object.index, score: object.score)
          ?? Category(index: object.index, score: object.score),
        boundingBox: placement.imageBox(of: rect), rect: rect,
        keypoints: object.keypoints.enumerated().map { index, point in
          let position = placement.imagePoint(modelX: point.x, modelY: point.y)
          return Keypoint(
            name: keypointNames?[index], x: position.x, y: position.y, score: point.score)
        }, mask: object.mask.flatMap { mask(of: $0, in: rect, placement, &masks) },
        center: object.isCentered ? PixelPoint(x: rect.x + rect.width / 2, y: rect.y + rect.height / 2) : nil,
        orientedBox: corners.isEmpty ? nil : OrientedBox(corners: corners))
    }
    return DetectionResult(
      imageWidth: placement.imageWidth, imageHeight: placement.imageHeight, detections: detections)
  }

  /// The objects, if the reading of the model can have them.
  private func checked(_ objects: [DetectedObject]) throws(ApusError) -> [DetectedObject] {
    let check = AnswerCheck(self.head.readings + (self.names?.readings ?? []))
    let areRaw = options.baseOptions.scores == .raw
    var objects = objects
    for index in objects.indices {
      if !areRaw { objects[index].score = try check.score(objects[index].score) }
      let box = objects[index].box
      try check.checkEdges(box.minX, box.minY, box.maxX, box.maxY)
      if let names, names.countsBackground, objects[index].index == 0 {
        throw check.refusal("an answer has class 0, the background", "class numbers")
      }
      if let names, names.origin == .exporter, !names.hasRow(ofClass: objects[index].index) {
        throw check.refusal(
          "an answer has class \(objects[index].index), but \(names.source) are those of \(names.map.rowCount) classes",
          "layout")
      }
    }
    let score = { (object: DetectedObject) in areRaw ? .infinity : object.score }
    objects = try check.possible(objects, score: score) {
      object throws(ApusError) in
      var object = object
      object.box = try check.checked(object.box)
      // Points are shown only with their objects.
      for place in object.keypoints.indices {
        object.keypoints[place] = try check.checked(
          object.keypoints[place], threshold: KeypointDetector.Options().scoreThreshold, areRaw: areRaw)
      }
      return object
    }
    for object in objects { beyondNames.add(object.index, names) }
    return objects
  }

  /// The mask, unless the picture's masks have too many pixels already, or perhaps too many runs of them.
  private func mask(
    of patch: MaskPatch, in rect: PixelRect, _ placement: Placement, _ sum: inout (pixels: Int, runs: Int)
  ) -> DetectionMask? {
    guard let mask = DetectionMask(patch, in: rect, placement) else { return nil }
    let pixels = sum.pixels + mask.width * mask.height
    // A column of the picture lies between two of the patch, and changes sides where one of them does.
    let runs = sum.runs + 2 * mask.width + 2 * patch.changeCount * ((mask.width - 1) / patch.width + 1)
    guard pixels <= Self.maximumMaskPixels, runs <= Self.maximumMaskRuns else {
      hasLeftOutMasks.withLock { $0 = true }
      return nil
    }
    sum = (pixels, runs)
    return mask
  }

  /// The maximum number of pixels in all masks of a picture, and of runs; masks beyond are left out.
  private static let maximumMaskPixels = 1 << 28
  private static let maximumMaskRuns = 1 << 22

  private var maskWarnings: [String] {
    guard hasLeftOutMasks.withLock({ $0 }) else { return [] }
    return ["some objects have no mask: those of their picture would take too much memory together"]
  }

  // MARK: Recognition

  private static func head(
    of prepared: PreparedModel, labels: LabelMap?, options: Options
  ) throws(ApusError) -> any DetectionHead {
    let chosen = options.layout
    if let chosen { try LayoutShapes(prepared).check(chosen) }
    if options.outputs != nil || chosen == .postProcessed {
      let rows = try PostProcessedHead.rows(of: prepared, chosen: options.outputs)
      return try PostProcessedHead(
        prepared, rows, chosen: options.outputs, boxOrder: options.boxOrder)
    }
    // `.ssd` is what people call both forms of such models.
    if chosen == nil || chosen == .ssd {
      if let rows = try? PostProcessedHead.rows(of: prepared, chosen: nil),
        !BestClassOutputs.areCandidates(rows, prepared)
      {
        return try PostProcessedHead(prepared, rows, chosen: nil, boxOrder: options.boxOrder)
      }
    }
    if let head = CellHead(prepared, chosen: chosen) { return head }
    if let head = try AnchorHead(prepared, chosen: chosen, anchors: options.anchors, labels: labels) {
      return head
    }
    if let head = try OrientedHead(prepared, chosen: chosen, labels: labels) { return head }
    if let head = try RowsHead(prepared, chosen: chosen) { return head }
    if let head = try BoxScoreHead(prepared, chosen: chosen, labelCount: labels?.rowCount) { return head }
    if let head = try YOLOXHead(prepared, chosen: chosen, labels: labels) { return head }
    if [nil, .yolo5, .yolo8, .yolo10Raw, .yoloEndToEnd].contains(chosen),
      let head = try YOLOHead(prepared, chosen: chosen, labelCount: labels?.rowCount)
    {
      return head
    }
    if chosen == nil || chosen == .ssd,
      let head = try SSDHead(prepared, labels: labels, boxOrder: options.boxOrder)
    {
      return head
    }
    let looked =
      chosen.map {
        "those of the layout \($0.rawValue) (\(LayoutShapes(prepared).outputs(of: $0)) for "
          + "\(prepared.geometry.width) × \(prepared.geometry.height) pixels)"
      }
        ?? """
        those of a detector (boxes 1×N×4, classes 1×N, scores 1×N, a count; boxes 1×N×4 and scores 1×N×classes of SSD; \
        YOLO's 1×(4+classes)×N, 1×N×(5+classes), 1×300×6 or 1×100×7, FOMO's height/8×width/8×(1+classes), for \
        \(prepared.geometry.width) × \(prepared.geometry.height) pixels)
        """
    let advice =
      if prepared.outputs.indices.allSatisfy({
        prepared.rowLength(of: $0) != nil && !prepared.hasOpenRows($0)
      }) {
        "; such rows are the outputs of a classifier or an embedder"
      } else if chosen == nil, let command = prepared.otherCommand {
        "; '\(command)' takes such models"
      } else if chosen == nil, prepared.isMap {
        """
        ; a map of cells is that of FOMO, if its numbers are probabilities (--layout fomo), or of YOLO v2 and ST's YOLO-lc \
        (--layout yolo2 with --anchors)
        """
      } else if chosen == nil {
        (prepared.knownClassCount(labels).map { ", and there are names for \($0) classes" } ?? "")
          + "; a layout can be chosen: \(DetectorLayout.names); 'apus faces', 'keypoints' or 'segment' take other models"
      } else {
        ""
      }
    throw ApusError(
      .invalidArgument,
      "the model's outputs are not \(looked), but: \(prepared.outputDescription)\(advice)")
  }
}
