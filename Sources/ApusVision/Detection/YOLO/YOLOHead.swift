// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The heads of YOLO: boxes with class scores, perhaps with objectness, mask coefficients or keypoints.
struct YOLOHead: DetectionHead {
  let shape: YOLOShape
  /// Whether a picture decides how many rows there are.
  private let hasOpenRows: Bool
  /// The output with the boxes.
  let output: Int
  let prototypes: MaskPrototypes?
  /// How many keypoints each object has, and how many numbers each of them.
  let keypoints: (count: Int, values: Int)?
  /// The reading of the number of keypoints; nil without keypoints.
  private let keypointReading: Assumption?
  let pictureDefaults: PictureDefaults
  private let ownWarnings: [String]
  private let boxUnits: Decision<BoxUnits>
  /// Where the candidates of a square output are; nil for others, whose shape says it.
  private let orientation: CandidateOrientation?
  private let scores: ScoreReading
  let width: Float
  let height: Float

  /// The maximum number of keypoints of an object, and of all objects in a picture; objects beyond have none.
  private static let maximumKeypoints = 512
  private static let maximumKeypointsOfPicture = 1 << 18

  /// Recognizes a head; nil if the outputs are not those of one.
  ///
  /// - Parameters:
  ///   - chosen: The kind that the caller says it is.
  ///   - expected: The keypoints to expect where the metadata does not speak of them.
  ///   - labelCount: How many names the caller has.
  ///   - isGiven: Whether the caller says so, so that the metadata does not matter.
  /// - Throws: `invalidArgument` if several kinds fit, or the metadata names a task without boxes or too many keypoints.
  init?(
    _ prepared: PreparedModel, chosen: DetectorLayout?, keypoints expected: (count: Int, values: Int)? = nil,
    isGiven: Bool = false, labelCount: Int? = nil
  ) throws(ApusError) {
    let outputs = prepared.outputs
    let planes = outputs.indices.compactMap {
      MaskPrototypes(outputs[$0], output: $0, geometry: prepared.geometry)
    }
    // One output, or one with mask prototypes beside it, in any order.
    let heads = outputs.indices.filter { head in
      outputs.count == 1 || outputs.count == 2 && planes.contains { $0.output != head }
    }
    guard let output = heads.first(where: { Self.dimensions(outputs[$0].shape) != nil }),
      let dimensions = Self.dimensions(outputs[output].shape)
    else { return nil }
    prototypes = planes.first { $0.output != output }
    let export = prepared.export
    let place = (export?.fileName).flatMap { $0.isEmpty ? nil : " (\($0))" } ?? ""
    if let task = export?.task, Self.otherTasks.contains(task) {
      throw ApusError(
        .invalidArgument,
        "the model's metadata\(place) says that its task is '\(task)', not detect, segment or pose")
    }
    keypoints =
      isGiven
      ? expected
      : export?.task == "pose" ? export?.keypoints ?? expected : export?.task == nil ? expected : nil
    if let keypoints, keypoints.count > Self.maximumKeypoints || keypoints.values > 3 {
      throw ApusError(
        .invalidArgument,
        """
        \(isGiven ? "the options" : "the model's metadata\(place)") \(isGiven ? "give" : "gives") an object \(keypoints.count) keypoints of \(keypoints.values) numbers, \
        not at most \(Self.maximumKeypoints) of 3
        """)
    }
    keypointReading = keypoints.map { Self.reading($0, isGiven: isGiven, export) }
    let extra = (prototypes?.count ?? 0) + (keypoints.map { $0.count * $0.values } ?? 0)
    let (geometry, tensor) = (prepared.geometry, outputs[output])
    var recognition = YOLORecognition(
      dimensions: dimensions, width: geometry.width, height: geometry.height, extra: extra, export: export,
      isCalledVersion10: prepared.isCalled("yolov10", "yolo_v10"),
      axis: prepared.options.candidates, hasOpenRows: prepared.hasOpenRows(output))
    var square: CandidateOrientation?
    if dimensions.first == dimensions.second, let shape = try recognition.shape(chosen: chosen),
      shape.layout != .yoloEndToEnd
    {
      let found = try CandidateOrientation(ofSquare: output, side: shape.rows, prepared)
      recognition.axis = found.axis
      square = found
    }
    orientation = square
    guard let shape = try recognition.shape(chosen: chosen) else {
      if chosen == nil, !isGiven { try recognition.refuseNames(tensor.shape) }
      return nil
    }
    if chosen == nil, expected == nil, export?.names.isEmpty != false, export?.task == nil, labelCount == nil,
      prototypes == nil, shape.layout == .yolo8, shape.isTransposed,
      let columns = CandidateColumns(
        prepared, output, rows: shape.rows, columns: shape.columns, isTransposed: true)
    {
      let (layouts, others) = columns.alternatives()
      guard layouts.isEmpty, others.isEmpty else {
        throw prepared.ambiguity(
          of: output, [(.yolo8, "box and \(shape.classes) classes")] + layouts, others: others)
      }
    }
    // Seventeen points of a person would be classes.
    if chosen == nil, expected == nil, export == nil, labelCount == nil, shape.layout == .yolo8,
      shape.classes == 52
    {
      throw ApusError(
        .invalidArgument,
        """
        the output \(tensor.shape) can be that of yolo8 (52 classes) or of poses (17 keypoints of 3 numbers, for apus keypoints): \
        nothing in the model decides, so the layout must be chosen (--layout)
        """)
    }
    self.shape = shape
    hasOpenRows = prepared.hasOpenRows(output)
    self.output = output
    (width, height) = (Float(geometry.width), Float(geometry.height))
    ownWarnings = Self.warnings(tensor, output)
    pictureDefaults = PictureDefaults(
      exportedBy: export, as: "detect",
      usual: PictureDefaults(
        fit: .yolo, normalization: .unit, normalizesIntegers: true, reason: "usual for YOLO"))
    let units = prepared.boxUnits(
      of: output, given: prepared.options.boxUnits, side: max(geometry.width, geometry.height),
      hasPoints: keypoints != nil, exported: Self.exportedUnits(export, shape, isPlanar: geometry.isPlanar))
    boxUnits = Decision(units.units, units.assumption)
    scores = prepared.scores(of: output, given: prepared.options.scores, usual: .probability)
  }

  /// The unit that the exporter's rules give boxes: lists of results of models with channels first have pixels, all others
  /// fractions.
  private static func exportedUnits(_ export: ExportMetadata?, _ shape: YOLOShape, isPlanar: Bool)
    -> (units: BoxUnits, reason: String)?
  {
    guard let export, export.task != nil, !export.hasSuppression else { return nil }
    let isPixels = shape.layout == .yoloEndToEnd && isPlanar
    return (isPixels ? .pixel : .fraction, "exports with \(export.fileName) give them so")
  }

  /// The two dimensions that are not 1; of three, those behind the first.
  static func dimensions(_ shape: TensorShape) -> (first: Int, second: Int)? {
    var dimensions = shape.dimensions
    while dimensions.count > 2, dimensions.first == 1 { dimensions.removeFirst() }
    while dimensions.count > 2, dimensions.last == 1 { dimensions.removeLast() }
    guard dimensions.count == 2, dimensions.allSatisfy({ $0 > 0 }) else { return nil }
    return (dimensions[0], dimensions[1])
  }

  static func warnings(_ tensor: Tensor, _ output: Int) -> [String] {
    guard tensor.type != .float32, let scale = tensor.quantization?.scale, scale > 0.1 else { return [] }
    return [
      """
      the scores have collapsed: output \(output) has one scale for boxes and scores, \(scale), so that a score can be \
      only 0, \(scale) and its multiples; export the model with float outputs or with boxes from 0 to 1
      """
    ]
  }

  /// Tasks of such models whose outputs are no upright boxes.
  private static let otherTasks: Set<String> = ["classify", "obb", "semantic", "depth"]

  // MARK: Facts

  var layout: DetectorLayout { shape.layout }
  var warnings: [String] { ownWarnings + [boxUnits.warning, scores.warning].compactMap(\.self) }
  var reason: String { shape.reason }
  var isUndecided: Bool { boxUnits.isOpen }
  var classCount: Int? { shape.layout == .yoloEndToEnd ? nil : shape.classes }
  var clipsBoxes: Bool { true }

  var readings: [Assumption] {
    [
      Assumption("layout", layout.rawValue, shape.source, reason: shape.reason, option: "--layout"),
      boxUnits.assumption, scores.assumption,
    ] + [keypointReading, orientation?.assumption].compactMap(\.self)
  }

  var roles: [Int: String] {
    let classes = shape.classes
    var columns =
      switch shape.layout {
      case .yolo5: "center x, center y, width, height, objectness, \(classes) class scores"
      case .yolo10Raw: "left, top, right, bottom, \(classes) class scores"
      case .yoloEndToEnd: "left, top, right, bottom, score, class"
      default: "center x, center y, width, height, \(classes) class scores"
      }
    if let prototypes { columns += ", \(prototypes.count) mask coefficients" }
    if let keypoints { columns += ", \(keypoints.count) keypoints of \(keypoints.values) numbers" }
    let isOpen = hasOpenRows && shape.layout == .yoloEndToEnd
    let count = isOpen ? "an open number of candidates" : "\(shape.rows) candidates"
    var roles = [
      output:
        "\(count), \(shape.isTransposed ? "one a column" : "one a row"): \(columns)"
    ]
    if let prototypes {
      roles[prototypes.output] =
        "\(prototypes.count) mask prototypes, \(prototypes.height)×\(prototypes.width), "
        + (prototypes.isPlanar ? "channels first" : "channels last")
    }
    return roles
  }

  func steps(_ criteria: DetectionCriteria) -> [String] {
    var steps = [
      boxUnits.value == .pixel
        ? "coordinates are pixels of the input" : "coordinates are fractions of the input",
      shape.layout == .yoloEndToEnd || shape.layout == .yolo10Raw
        ? "boxes are corners" : "corners are the center less and plus half the size",
    ]
    if keypoints != nil {
      steps.append(
        "keypoints have the unit of the boxes, or the other one if more of them lie in their boxes then")
    }
    let threshold = criteria.scoreThreshold
    if scores.form == .logit { steps.append("a score is 1 / (1 + exp(-value))") }
    switch shape.layout {
    case .yoloEndToEnd: steps.append("score > \(threshold); nothing is suppressed")
    case .yolo5:
      steps.append("objectness > \(threshold), then score = objectness * class score > \(threshold)")
    default: steps.append("score > \(threshold)")
    }
    if shape.layout != .yoloEndToEnd {
      steps.append(
        criteria.isMultiLabel ? "every class above counts" : "the best class of a candidate counts")
    }
    if shape.layout == .yolo5 || shape.layout == .yolo8 {
      steps.append(
        """
        suppression where IoU > \(criteria.maximumOverlap) \
        \(criteria.isClassAgnostic ? "among all classes" : "within a class (boxes + 7680 * class)"), of the best \
        \(NonMaximumSuppression.maximumCandidates) candidates
        """)
    }
    steps.append("best first, at most \(criteria.maxResults); boxes end at the picture's edges")
    if prototypes != nil {
      steps.append("mask: (coefficients @ prototypes) > 0, enlarged bilinearly, inside the box")
    }
    return steps
  }

  // MARK: Decoding

  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject] {
    var coefficients: [[Float]] = []
    var objects = try run.withValues(of: output) { values throws(ApusError) in
      var shape = shape
      if shape.layout == .yoloEndToEnd, hasOpenRows { shape.rows = values.count / shape.columns }
      guard values.count == shape.rows * shape.columns else {
        throw ApusError(
          .invalidData,
          "output \(output) has \(values.count) values, not \(shape.rows)×\(shape.columns) as when prepared")
      }
      let decoder = YOLODecoder(
        shape: shape, width: width, height: height, areLogits: scores.form == .logit)
      let check = AnswerCheck(readings)
      try decoder.check(
        values, criteria.scoreThreshold, isExact: run.outputs[output].type == .float32, check)
      var isPixels = boxUnits.value == .pixel
      var kept = decoder.candidates(values, isPixels: isPixels, criteria)
      for box in kept { try check.checkEdges(box.x1, box.y1, box.x2, box.y2) }
      let (unitX, unitY) = isPixels ? (1, 1) : (width, height)
      if !boxUnits.isCertain,
        let shown = try BoxUnits(shownBy: kept.map { max($0.x2 / unitX, $0.y2 / unitY) }, check)
      {
        let wasPixels = isPixels
        isPixels = try boxUnits.settle(shown) == .pixel
        if isPixels != wasPixels { kept = decoder.candidates(values, isPixels: isPixels, criteria) }
      }
      if shape.layout == .yolo8, shape.source != .given, !kept.isEmpty, decoder.areCorners(values) {
        throw check.refusal(
          "the third and fourth number of each candidate are at least its first and second, as in corners (yolo10-raw)",
          "layout")
      }
      if let constant = decoder.constantClass(of: kept, values) {
        throw check.refusal(
          "class \(constant.index) has the score \(constant.score) in each of the \(shape.rows) candidates",
          "layout", "scores")
      }
      if let prototypes {
        coefficients = kept.map { decoder.columns($0.row, shape.firstExtra, prototypes.count, values) }
      }
      let points = self.points(
        of: kept.prefix(Self.maximumKeypointsOfPicture / max(keypoints?.count ?? 0, 1)), decoder, values,
        areBoxesPixels: isPixels)
      return kept.enumerated().map { position, candidate in
        DetectedObject(
          index: candidate.index, score: candidate.score,
          box: BoundingBox(
            minX: candidate.x1 / width, minY: candidate.y1 / height, maxX: candidate.x2 / width,
            maxY: candidate.y2 / height),
          keypoints: position < points.count ? points[position] : [])
      }
    }
    if let prototypes, !objects.isEmpty {
      var left = MaskPrototypes.budget
      try run.withValues(of: prototypes.output) { values in
        for index in objects.indices {
          objects[index].mask = prototypes.patch(
            coefficients[index], in: objects[index].box, values, left: &left)
        }
      }
    }
    return objects
  }
}
