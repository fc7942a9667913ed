// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import Foundation
import NIOCore

/// The vision tasks of this build. What a new task needs is here: a case, how it is made, and how it is drawn.
public enum VisionTaskKind: String, CaseIterable, Hashable, Sendable {
  /// Objects with boxes.
  case detect
  /// The best classes.
  case classify
  /// Vectors that are near for pictures that are alike.
  case embed
  /// The class of every pixel.
  case segment
  /// The joints of bodies.
  case keypoints
  /// Faces with their landmarks.
  case faces
  /// Pictures that models make of pictures, and depth.
  case transform
  /// Hands with their points and sides.
  case hands
  /// Faces with the points of a mesh, expressions and places in space.
  case faceMesh = "face-mesh"
  /// Bodies with their points.
  case pose
  /// One person: body, hands and face.
  case holistic

  /// Whether the task gives classes the names of a label file.
  public var readsLabels: Bool { [.detect, .classify, .segment].contains(self) }

  /// Whether the task needs the several models of a bundle.
  var takesBundle: Bool { [.hands, .faceMesh, .pose, .holistic].contains(self) }
}

/// A task that is prepared for a model.
struct PreparedTask: Sendable {
  private let answer:
    @Sendable (ImageBuffer, PictureTask.Form, Cancellation) throws(ApusError) -> PictureAnswer
  /// The task's assumptions about the model, with what its answers have shown so far.
  let assumptions: @Sendable () -> TaskAssumptions
  /// The assumptions before the first answer.
  private let firstAssumptions: TaskAssumptions
  /// Whether no answer has changed how the model is read. A task learns that from its answers where the file leaves it open.
  var isAsPrepared: Bool { assumptions() == firstAssumptions }
  /// The input as the task fills it; nil for tasks of several models.
  let input: PictureInput?

  /// Prepares a task with the settings of the command line, but for what the client chose.
  init(_ kind: VisionTaskKind, on instance: ModelInstance, settings: PictureTask.Settings) throws(ApusError) {
    let (model, labels) = (instance.served.model, instance.served.givenLabels)
    var base = BaseOptions()
    base.fit = settings.fit
    if let resampling = settings.resampling { base.resampling = resampling }
    base.normalization = settings.pixels
    base.channels = settings.channels
    base.boxUnits = settings.boxUnits
    base.candidates = settings.candidates
    base.scores = settings.scores
    base.interpreter = instance.interpreterOptions
    try Self.check(settings, for: kind)
    guard kind.takesBundle || instance.served.bundle == nil else {
      throw ApusError(
        .invalidArgument,
        "'\(instance.served.name)' is a bundle of models, and the task '\(kind.rawValue)' takes a single one: a bundle is for "
          + Self.names { $0.takesBundle })
    }
    switch kind {
    case .detect:
      var options = ObjectDetector.Options()
      options.baseOptions = base
      options.layout = settings.layout
      options.boxOrder = settings.boxOrder
      options.anchors = settings.anchors
      options.scoreThreshold = settings.scoreThreshold
      options.maxResults = settings.maximumResults
      if let threshold = settings.iouThreshold { options.maximumOverlap = threshold }
      options.isClassAgnostic = settings.isClassAgnostic
      options.isMultiLabel = settings.isMultiLabel
      options.categoryAllowlist = settings.allowed
      options.categoryDenylist = settings.denied
      self.init(
        try ObjectDetector(model: model, labels: labels, options: options),
        draw: { picture, result throws(ApusError) in try picture.drawing(result.detections) })
    case .classify:
      var options = ImageClassifier.Options()
      options.baseOptions = base
      options.scoreThreshold = settings.scoreThreshold
      options.maxResults = settings.maximumResults ?? 5
      options.categoryAllowlist = settings.allowed
      options.categoryDenylist = settings.denied
      self.init(try ImageClassifier(model: model, labels: labels, options: options))
    case .embed:
      var options = ImageEmbedder.Options()
      options.baseOptions = base
      options.normalizesEmbeddings = true
      guard let faces = settings.faces else {
        self.init(try ImageEmbedder(model: model, options: options))
        return
      }
      // The two models share the memory. How pictures are fitted and read is the embedder's.
      options.interpreter.memoryLimit /= 2
      var detection = FaceDetector.Options()
      detection.interpreter = options.interpreter
      detection.minDetectionConfidence = settings.scoreThreshold ?? 0.5
      detection.maxResults = settings.maximumResults
      self.init(
        FaceEmbedder(
          detector: try FaceDetector(model: faces.served.model, options: detection),
          embedder: try ImageEmbedder(model: model, options: options)),
        draw: { picture, result throws(ApusError) in try picture.drawing(faces: result.faces.map(\.face)) })
    case .segment:
      var options = ImageSegmenter.Options()
      options.baseOptions = base
      options.outputIndex = settings.outputIndex
      self.init(
        try ImageSegmenter(model: model, labels: labels, options: options),
        draw: { picture, result throws(ApusError) in try picture.drawing(segmentation: result) },
        file: { result, isPNG throws(ApusError) in
          isPNG ? try result.encodedPNG() : try result.encodedNumPy()
        })
    case .keypoints:
      var options = KeypointDetector.Options()
      options.baseOptions = base
      let threshold = settings.scoreThreshold ?? 0.3
      options.scoreThreshold = threshold
      options.maximumOverlap = settings.iouThreshold ?? options.maximumOverlap
      options.maxResults = settings.maximumResults
      options.layout = settings.layout
      options.keypoints = settings.keypoints.map { ($0.count, $0.values) }
      self.init(
        try KeypointDetector(model: model, options: options),
        draw: { picture, result throws(ApusError) in
          try picture.drawing(poses: result.poses, keypointThreshold: threshold)
        })
    case .faces:
      var options = FaceDetector.Options()
      options.baseOptions = base
      if let threshold = settings.iouThreshold { options.maximumOverlap = threshold }
      options.minDetectionConfidence = settings.scoreThreshold ?? 0.5
      options.maxResults = settings.maximumResults
      self.init(
        try FaceDetector(model: model, options: options),
        draw: { picture, result throws(ApusError) in try picture.drawing(faces: result.faces) })
    case .transform:
      var options = PictureTransformer.Options()
      options.baseOptions = base
      options.outputPixels = settings.outputPixels
      options.fitsOutput = settings.fitsOutput
      self.init(
        try PictureTransformer(model: model, options: options),
        file: { result, isPNG throws(ApusError) in
          isPNG ? try result.encodedPNG() : try result.encodedNumPy()
        })
    case .hands, .faceMesh, .pose, .holistic:
      self = try Self.landmarker(kind, on: instance, settings: settings)
    }
  }

  /// The names of some tasks, for errors.
  private static func names(where isMeant: (VisionTaskKind) -> Bool) -> String {
    VisionTaskKind.allCases.filter(isMeant).map(\.rawValue).joined(separator: " and ")
  }

  /// Prepares a task of several models.
  private static func landmarker(
    _ kind: VisionTaskKind, on instance: ModelInstance, settings: PictureTask.Settings
  ) throws(ApusError) -> PreparedTask {
    guard let bundle = instance.served.bundle else {
      throw ApusError(
        .invalidArgument,
        "the task '\(kind.rawValue)' takes a bundle of models (.task), and '\(instance.served.name)' is a single model"
      )
    }
    switch kind {
    case .hands:
      var options = HandLandmarker.Options()
      options.interpreter = instance.interpreterOptions
      options.minPresenceConfidence = settings.scoreThreshold ?? options.minPresenceConfidence
      options.minDetectionConfidence = settings.detectionThreshold ?? options.minDetectionConfidence
      options.maxHands = settings.maximumResults ?? options.maxHands
      options.palmAngle = settings.palmAngle ?? options.palmAngle
      return PreparedTask(
        try HandLandmarker(bundle: bundle, options: options),
        draw: { picture, result throws(ApusError) in try picture.drawing(hands: result.hands) })
    case .faceMesh:
      var options = FaceLandmarker.Options()
      options.interpreter = instance.interpreterOptions
      options.minPresenceConfidence = settings.scoreThreshold ?? options.minPresenceConfidence
      options.minDetectionConfidence = settings.detectionThreshold ?? options.minDetectionConfidence
      options.maxFaces = settings.maximumResults ?? options.maxFaces
      options.maximumOverlap = settings.iouThreshold ?? options.maximumOverlap
      return PreparedTask(
        try FaceLandmarker(bundle: bundle, options: options),
        draw: { picture, result throws(ApusError) in try picture.drawing(faceMeshes: result.faces) })
    case .pose:
      var options = PoseLandmarker.Options()
      options.interpreter = instance.interpreterOptions
      options.minPresenceConfidence = settings.scoreThreshold ?? options.minPresenceConfidence
      options.minDetectionConfidence = settings.detectionThreshold ?? options.minDetectionConfidence
      options.maxPoses = settings.maximumResults ?? options.maxPoses
      options.refinementCells = settings.refinementCells ?? options.refinementCells
      return PreparedTask(
        try PoseLandmarker(bundle: bundle, options: options),
        draw: { picture, result throws(ApusError) in try picture.drawing(bodies: result.poses) })
    default:
      var options = HolisticLandmarker.Options()
      options.interpreter = instance.interpreterOptions
      options.minPosePresenceConfidence = settings.scoreThreshold ?? options.minPosePresenceConfidence
      options.minPoseDetectionConfidence = settings.detectionThreshold ?? options.minPoseDetectionConfidence
      options.refinementCells = settings.refinementCells ?? options.refinementCells
      return PreparedTask(
        try HolisticLandmarker(bundle: bundle, options: options),
        draw: { picture, result throws(ApusError) in try picture.drawing(person: result) })
    }
  }

  /// Refuses settings that say nothing to a task.
  private static func check(
    _ settings: PictureTask.Settings, for kind: VisionTaskKind
  ) throws(ApusError) {
    let single = VisionTaskKind.allCases.filter { !$0.takesBundle }
    // Of embedders, the face detector has results with scores.
    let counted: [VisionTaskKind] =
      [.detect, .classify, .keypoints, .faces, .hands, .faceMesh, .pose]
      + (settings.faces == nil ? [] : [.embed])
    let chosen: [(name: String, isChosen: Bool, tasks: [VisionTaskKind])] = [
      ("fit", settings.fit != nil, single), ("pixels", settings.pixels != nil, single),
      ("channels", settings.channels != nil, single), ("resampling", settings.resampling != nil, single),
      ("box_units", settings.boxUnits != nil, [.detect, .keypoints]),
      ("scores", settings.scores != nil, [.detect, .classify, .segment, .keypoints, .faces]),
      ("score_threshold", settings.scoreThreshold != nil, counted + [.holistic]),
      ("max_results", settings.maximumResults != nil, counted),
      ("allow", !settings.allowed.isEmpty, [.detect, .classify]),
      ("deny", !settings.denied.isEmpty, [.detect, .classify]),
      ("detection_threshold", settings.detectionThreshold != nil, [.hands, .faceMesh, .pose, .holistic]),
      ("iou_threshold", settings.iouThreshold != nil, [.detect, .keypoints, .faces, .faceMesh]),
      ("class_agnostic", settings.isClassAgnostic, [.detect]),
      ("multi_label", settings.isMultiLabel, [.detect]),
      ("palm_angle", settings.palmAngle != nil, [.hands]),
      ("refinement_cells", settings.refinementCells != nil, [.pose, .holistic]),
      ("layout", settings.layout != nil, [.detect, .keypoints]),
      ("candidates", settings.candidates != nil, [.detect, .keypoints]),
      ("anchors", settings.anchors != nil, [.detect]),
      ("box_order", settings.boxOrder != nil, [.detect]),
      ("keypoints", settings.keypoints != nil, [.keypoints]),
      ("output_index", settings.outputIndex != nil, [.segment]),
      ("output_pixels", settings.outputPixels != nil, [.transform]),
      ("fit_output", settings.fitsOutput, [.transform]),
      ("faces", settings.faces != nil, [.embed]),
    ]
    for setting in chosen where setting.isChosen && !setting.tasks.contains(kind) {
      let names = Self.names { setting.tasks.contains($0) }
      throw ApusError(
        .invalidArgument, "\(setting.name) says nothing to the task '\(kind.rawValue)': it is for \(names)")
    }
  }

  /// Wraps a task.
  ///
  /// - Parameters:
  ///   - draw: Draws a result on its picture; nil for a task with nothing to draw.
  ///   - file: The file that a result makes, a PNG or else `.npy`; nil for a task that makes none.
  private init<Task: VisionTask>(
    _ task: Task, draw: (@Sendable (ImageBuffer, Task.Answer) throws(ApusError) -> ImageBuffer)? = nil,
    file: (@Sendable (Task.Answer, Bool) throws(ApusError) -> [UInt8])? = nil
  ) {
    firstAssumptions = task.assumptions
    assumptions = { task.assumptions }
    input = PictureInput(of: task)
    answer = { picture, form, cancellation throws(ApusError) in
      // Refused before the model runs.
      if form == .annotated, draw == nil {
        throw ApusError(.invalidArgument, "the task has nothing to draw on a picture")
      }
      if form == .png || form == .npy, file == nil {
        throw ApusError(
          .invalidArgument, "the task makes no file: output is for the tasks segment and transform")
      }
      let result = try task.answer(picture, in: nil, cancellation: cancellation)
      let body: ByteBuffer
      if form == .annotated, let draw {
        body = ByteBuffer(bytes: try draw(picture, result).encoded(as: .png))
      } else if form == .result {
        body = ByteBuffer()
      } else if form != .json, let file {
        body = ByteBuffer(bytes: try file(result, form == .png))
      } else {
        body = try Self.encoded(ResultWithWarning(answer: result, warning: picture.warning))
      }
      return PictureAnswer(
        body: body, result: result, timings: result.timings, warning: picture.warning)
    }
  }

  /// A result as the command line prints it, but for characters of labels that could forge lines or command terminals: they are
  /// escaped.
  private static func encoded(_ result: some Encodable) throws(ApusError) -> ByteBuffer {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    do {
      let json = String(decoding: try encoder.encode(result), as: UTF8.self)
      return ByteBuffer(string: PrintableText.escapedJSON(json))
    } catch {
      throw ApusError(.invalidData, "the result cannot be written as JSON: \(error)")
    }
  }

  /// Looks at a picture.
  func run(on picture: ImageBuffer, as form: PictureTask.Form, cancellation: Cancellation) throws(ApusError)
    -> PictureAnswer
  {
    try answer(picture, form, cancellation)
  }
}

extension PictureTask {
  /// Decodes the picture and runs the task.
  ///
  /// The pictures of one client must not decide how those of others are read: what an answer has shown is forgotten with its task.
  func run(on instance: ModelInstance, cancellation: Cancellation) throws(ApusError) -> PictureAnswer {
    let (task, isNew) = try instance.tasks.task(kind, settings, on: instance)
    return try DecodedPixels.shared.withPicture(file.array, instance.pictureLimits) {
      picture throws(ApusError) in
      do throws(ApusError) {
        return try answer(picture, task, on: instance, cancellation)
      } catch {
        // It may contradict what earlier answers have shown.
        guard error.code == .invalidData, !isNew else { throw error }
        instance.tasks.forget(kind, settings)
        let task = try instance.tasks.task(kind, settings, on: instance).task
        return try answer(picture, task, on: instance, cancellation)
      }
    }
  }

  private func answer(
    _ picture: ImageBuffer, _ task: PreparedTask, on instance: ModelInstance, _ cancellation: Cancellation
  ) throws(ApusError) -> PictureAnswer {
    defer {
      if !task.isAsPrepared {
        instance.report(kind, task.assumptions(), isOfSettings: settings != .init())
        instance.tasks.forget(kind, settings)
      }
    }
    return try task.run(on: picture, as: form, cancellation: cancellation)
  }
}

/// Tasks that an instance has prepared, the latest last.
struct TaskCache {
  private static let maximumCount = 4
  /// The most bytes that tensors of the kept tasks take, as far as the model that answers decides them.
  private static let maximumByteCount = 512 << 20
  private var tasks: [(kind: VisionTaskKind, settings: PictureTask.Settings, task: PreparedTask)] = []
  /// How many tasks of the model are kept; nil until a second one is asked for.
  private var limit: Int?

  /// A task, and whether it has been prepared for this request.
  mutating func task(
    _ kind: VisionTaskKind, _ settings: PictureTask.Settings, on instance: ModelInstance
  ) throws(ApusError) -> (task: PreparedTask, isNew: Bool) {
    if let index = tasks.firstIndex(where: { $0.kind == kind && $0.settings == settings }) {
      return (tasks[index].task, false)
    }
    // Room is made first, so that there are never more interpreters than tasks may be kept.
    if !tasks.isEmpty {
      let limit: Int
      if let known = self.limit { limit = known } else { limit = try Self.limit(of: instance) }
      self.limit = limit
      if tasks.count >= limit { tasks.removeFirst(tasks.count - limit + 1) }
    }
    let task = try PreparedTask(kind, on: instance, settings: settings)
    instance.report(kind, task.assumptions(), isOfSettings: settings != .init())
    tasks.append((kind, settings, task))
    return (task, true)
  }

  /// How many tasks may be kept: fewer of a model whose tensors are large, but at least one.
  private static func limit(of instance: ModelInstance) throws(ApusError) -> Int {
    let interpreter = try Interpreter(model: instance.served.model, options: instance.interpreterOptions)
    return limit(taskByteCount: interpreter.memoryPlan.arenaByteCount)
  }

  /// How many tasks that take this many bytes each may be kept.
  static func limit(taskByteCount: Int) -> Int {
    min(max(maximumByteCount / max(taskByteCount, 1), 1), maximumCount)
  }

  /// Lets a task go: the next request has one that has seen no answer.
  mutating func forget(_ kind: VisionTaskKind, _ settings: PictureTask.Settings) {
    tasks.removeAll { $0.kind == kind && $0.settings == settings }
  }
}
