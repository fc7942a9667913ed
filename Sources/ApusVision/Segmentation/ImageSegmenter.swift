// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusPixels

/// Finds the class of each pixel of a picture.
///
/// ```swift
/// let segmenter = try ImageSegmenter(modelFile: "deeplabv3.tflite")
/// let largest = try segmenter.segment(picture).classes.first
/// ```
///
/// Models return a score for each class and cell, one probability for each cell, or classes. Scores are
/// enlarged to the picture bilinearly before the largest wins; classes are taken from the nearest cell. Any number of
/// threads can share a segmenter.
public final class ImageSegmenter: VisionTask {
  /// How to segment.
  public struct Options: PictureOptions, Sendable {
    /// How pictures reach the model, and how it runs.
    public var baseOptions: BaseOptions
    /// Whether results have a class for each pixel.
    public var outputsCategoryMask = true
    /// Whether results have the model's scores for each pixel and class: four bytes for each of them.
    public var outputsConfidenceMasks = false
    /// The language of display names, such as `en` or `de-CH`, if the metadata has them; nil for none.
    public var displayNamesLocale: String?
    /// The index of the output that has the mask; nil for the likeliest of those that may be one.
    public var outputIndex: Int?

    /// Makes the default options, or those with the given base options.
    public init(baseOptions: BaseOptions = BaseOptions()) { self.baseOptions = baseOptions }
  }

  /// The content of the output.
  enum Form: Sendable {
    case scores, probability, classes
  }

  /// An output that covers the picture.
  typealias Grid = (
    output: Int, form: Form, width: Int, height: Int, channels: MaskEnlargement.Channels
  )

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model, updated by the answers so far.
  public var assumptions: TaskAssumptions {
    TaskAssumptions(
      task: "segmenter",
      kind: form == .classes
        ? "classes" : form == .scores ? "scores of \(channels.count) classes" : "one probability",
      reason: "the output has a cell for each part of the picture", pictures: pictures,
      roles: [output: "\(gridHeight)×\(gridWidth) cells" + (form == .classes ? "" : ", \(layout)")],
      readings: [layoutReading] + (choice.assumption.map { [$0] } ?? [])
        + (mask.map { [$0.assumption] } ?? []),
      labels: names, steps: [step],
      warnings: choice.warnings + idleWarnings + byteWarnings + coarseWarnings
        + (mask?.warning.map { [$0] } ?? []) + signs.warnings
        + beyondNames.warnings(names)
        + (names == nil ? LabelSource.warnings(ofLocale: options.displayNamesLocale) : []))
  }

  /// Warnings about options that change nothing for this model; usually empty.
  private var idleWarnings: [String] {
    var warnings: [String] = []
    if options.scores != nil, mask == nil {
      warnings.append(
        "--scores changes nothing: "
          + (form == .classes
            ? "the output has classes, not scores"
            : "the class of the largest score wins, whatever scores are"))
    }
    if options.outputsConfidenceMasks, form == .classes {
      warnings.append("outputsConfidenceMasks changes nothing: the output has classes, not scores")
    }
    return warnings
  }

  private var layoutReading: Assumption {
    let name = form == .classes ? "classes" : form == .scores ? "a score for each class" : "one number"
    return classOrigin.map {
      Assumption("layout", "\(name), \(layout)", .model, reason: "\($0) finds them")
    }
      ?? Assumption(
        "layout", "\(name), \(layout)", .guess, reason: "the output's type, shape and the input's order")
  }

  /// Where the output has its channels, for people.
  private var layout: String { channels.perChannel == 1 ? "channels last" : "channels first" }

  private var step: String {
    switch form {
    case .scores: "scores are enlarged bilinearly to the picture, then the largest wins"
    case .probability:
      "the number is enlarged bilinearly to the picture: 1 where above \(mask?.threshold ?? 0.5), else 0"
    case .classes: "each pixel takes the class of the nearest cell"
    }
  }

  /// A warning about bytes that are taken for classes; usually empty.
  private var byteWarnings: [String] {
    guard form == .classes, classOrigin == nil, names == nil,
      MaskReading.hasPlainBytes(pictures.outputs[output])
    else {
      return []
    }
    return [
      "the output \(pictures.outputs[output]) has bytes without a scale, taken for classes, which is a guess: if they "
        + "are a mask of 0 to 255, --scores byte says so; --labels says that they are classes"
    ]
  }

  /// A warning about scores that nothing says to be those of classes; usually empty.
  private var coarseWarnings: [String] {
    guard areDoubtful else { return [] }
    let numbers = channels.count == 1 ? "one number" : "\(channels.count) numbers"
    return [
      "the output \(pictures.outputs[output]) has \(numbers) for each of \(gridHeight)×\(gridWidth) cells, taken for "
        + (form == .scores ? "scores of classes" : "a mask")
        + ", which is a guess: raw outputs of detectors ('apus detect') and maps of points ('apus keypoints') look alike; "
        + (form == .scores
          ? "--labels says that they are classes" : "--labels with a name says that it is a mask")
    ]
  }

  let pictures: PictureModel
  private let output: Int
  private let choice: MaskChoice
  private let form: Form
  private let gridWidth: Int
  private let gridHeight: Int
  private let channels: MaskEnlargement.Channels
  private let names: LabelSource?
  /// Whether numbers may be something else: nothing names classes, no SOFTMAX computes them, and cells are coarse, have each number by
  /// itself, or have others in further outputs.
  private let areDoubtful: Bool
  /// The operator that finds classes; nil where the graph does not show it.
  private let classOrigin: String?
  /// How many classes an answer can have: what the output's channels, type or last operators say, or else what a mask can hold.
  package let classCount: Int
  /// How the numbers of one channel are read; nil for several and for classes.
  private let mask: MaskReading?
  /// For a model that takes the mask of the picture before: how it is made.
  private let feedback: MaskFeedback?
  private let beyondNames = ClassesBeyondNames()
  private let signs = LogitSigns()

  /// How many rows of pixels a cell of a segmenter rarely has: most enlarge their scores. Prototypes and heat maps have as many.
  private static let coarsestCell = 4
  /// The maximum number of pixels times classes that are compared: some twenty seconds of work.
  private static let maximumWork = 1 << 32
  /// The maximum number of pixels times classes of confidence masks.
  private static let maximumConfidences = 1 << 28

  /// Makes a segmenter.
  ///
  /// - Parameters:
  ///   - model: The model: one picture in; `1×height×width×classes`, `1×classes×height×width`, `1×height×width×1` or
  ///     whole classes of `1×height×width` out.
  ///   - labels: The names of the classes; nil for the labels inside the model.
  ///   - options: How to segment.
  /// - Throws: `invalidArgument` if the model is not a segmenter; errors of `Apus.Interpreter`.
  public init(model: Model, labels: LabelMap? = nil, options: Options = Options()) throws(ApusError) {
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions, outputLimit: 1 << 27)
    try prepared.checkTask(["semantic"], for: "segment")
    let (grid, mask, choice) = try Self.mask(of: prepared, labels, given: options.outputIndex)
    self.choice = choice
    (output, form, gridWidth, gridHeight, channels) = grid
    let numbers = form == .classes ? ClassNumbers(ofOutput: output, of: model) : nil
    classOrigin = numbers?.origin
    self.mask = mask
    classCount = try Self.classCount(of: prepared, grid)
    var names = LabelSource(
      given: labels, of: prepared, output: output, locale: options.displayNamesLocale, offset: nil)
    // A class of the output is a row of the labels: the background has a class of its own.
    switch form {
    case .scores: names?.align(toClassCount: channels.count)
    case .probability: names?.align(toClassCount: 2)
    case .classes: if let numbers, let count = numbers.count { names?.align(toClassCount: count) }
    }
    names?.startAtFirstRow()
    // With one name for one probability, that is the name of what is there, class 1.
    if form == .probability, names?.map.rowCount == 1 { names?.shift(by: -1) }
    self.names = names
    let origin = BoundsSearch(model, input: .unknown).origin(of: model.file.subgraphs[0].outputs[output])
    let isCoarse = Self.coarsestCell * gridHeight <= prepared.geometry.height
    // A mask of one channel is doubtful only among other maps of its cells, as a heat map of one class has them.
    let hasOthers = Self.hasOtherNumbers(grid, in: prepared)
    areDoubtful =
      form != .classes && names == nil && prepared.export?.task != "semantic" && origin != .softmax
      && (form == .scores ? isCoarse || origin == .logistic || hasOthers : isCoarse && hasOthers)
    var defaults = PictureDefaults(exportedBy: prepared.export, as: "semantic", usual: PictureDefaults())
    defaults.fourthChannel = .previousMask
    pictures = try PictureModel(prepared, defaults: defaults, lacksLabels: names == nil)
    feedback =
      pictures.input.fourth == .previousMask
      ? try MaskFeedback(
        grid, mask, of: model, width: prepared.geometry.width, height: prepared.geometry.height)
      : nil
  }

  /// Makes a segmenter from files. Without `labelsFile`, the labels are those inside the model.
  ///
  /// - Throws: `unreadableFile`, `malformedModel`, `malformedLabels`, or what the other initializer throws.
  public convenience init(
    modelFile: String, labelsFile: String? = nil, options: Options = Options()
  ) throws(ApusError) {
    try self.init(
      model: Model(contentsOfFile: modelFile), labels: LabelMap(ofFile: labelsFile), options: options)
  }

  // MARK: Facts

  /// The names of the classes; nil if neither the caller nor the model has any.
  public var labels: LabelMap? { names?.map }

  /// Whether the model takes the mask of the picture before as the fourth channel of its input; for the first picture it is zeros.
  ///
  /// ``segment(_:in:after:cancellation:)`` takes the result before; ``VideoSegmenter`` keeps it.
  public var usesPreviousMask: Bool { feedback != nil }

  // MARK: Segmenting

  /// Finds the class of each pixel of a picture.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part to look at, in pixels after orientation; nil for the whole picture. Masks have the class of the region's
  ///     edge at pixels outside, which no share counts.
  ///   - previous: The result for the picture before in a video, for models that take its mask, see ``usesPreviousMask``; others
  ///     ignore it.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator
  ///   refuses a value; `resourceLimit` if a picture has too many pixels for the number of classes,
  ///   confidence masks take too much memory, or the run and what follows it more than the options of
  ///   `interpreter` allow.
  public func segment(
    _ image: ImageBuffer, in region: PixelRect? = nil, after previous: SegmentationResult? = nil,
    cancellation: Cancellation? = nil
  ) throws(ApusError) -> SegmentationResult {
    // A result of another model may have another size, and is no mask for this one.
    let mask = previous?.inputMask.count == feedback?.count ? previous?.inputMask : nil
    return try pictures.run(image, in: region, previousMask: mask, cancellation: cancellation, result)
  }

  /// Finds the class of each pixel, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  @concurrent
  public func segment(
    _ image: ImageBuffer, in region: PixelRect? = nil, after previous: SegmentationResult? = nil
  ) async throws -> SegmentationResult {
    try await cancellable { cancellation throws(ApusError) in
      try self.segment(image, in: region, after: previous, cancellation: cancellation)
    }
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> SegmentationResult
  {
    try segment(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [SegmentationResult]
  {
    try pictures.run(images, cancellation: cancellation, result)
  }

  /// Refuses scores that no other can be compared with; classes are looked at one by one.
  private func refuseOdd(_ values: Span<Float>) throws(ApusError) {
    guard form != .classes else { return }
    for index in 0..<values.count where !values[index].isFinite {
      throw ApusError(
        .invalidData, "output \(output) has the score \(values[index]), which is not a finite number")
    }
  }

  private func result(of run: ModelRun, in placement: Placement) throws(ApusError) -> SegmentationResult {
    let pixels = placement.imageWidth * placement.imageHeight
    // Both are limited: a picture to 2²⁸ pixels, a dimension of the output to 2¹⁵.
    guard pixels * channels.count <= Self.maximumWork else {
      throw ApusError(
        .resourceLimit,
        "\(channels.count) classes for each of \(pixels) pixels are more than \(Self.maximumWork) numbers")
    }
    if options.outputsConfidenceMasks, form != .classes {
      guard pixels * channels.count <= Self.maximumConfidences else {
        throw ApusError(
          .resourceLimit,
          "confidence masks of \(channels.count) classes and \(pixels) pixels take more than 1 GiB")
      }
    }
    let enlargement = MaskEnlargement(placement, gridWidth: gridWidth, gridHeight: gridHeight)
    var mask: [UInt16] = []
    var confidences: [[Float]] = []
    var inputMask: [UInt8] = []
    try run.withValues(of: output) { values throws(ApusError) in
      guard values.count == gridWidth * gridHeight * channels.count else {
        throw ApusError(.invalidData, "output \(output) has another shape than when prepared")
      }
      try refuseOdd(values)
      if let mask = self.mask {
        let least = try mask.check(values)
        if mask.form == .logit, mask.source != .given { signs.add(least) }
      }
      inputMask = feedback?.mask(values) ?? []
      mask =
        switch form {
        case .scores: try enlargement.bilinear(channels).largest(values, run.checkTime)
        case .probability:
          try enlargement.bilinear(channels).above(self.mask?.threshold ?? 0.5, values, run.checkTime)
        case .classes: try enlargement.nearest(values)
        }
      if options.outputsConfidenceMasks, form != .classes {
        let grid = enlargement.bilinear(channels)
        for channel in 0..<channels.count {
          var confidence = grid.enlarged(values, channel: channel)
          if let mask = self.mask, mask.form == .probability, mask.one != 1 {
            for place in confidence.indices { confidence[place] /= mask.one }
          }
          confidences.append(confidence)
        }
      }
    }
    let seen = placement.pixelsInInput
    let (all, counts) = Self.counts(of: mask, width: placement.imageWidth, in: seen)
    if let greatest = all.lastIndex(where: { $0 > 0 }), greatest >= classCount {
      throw ApusError(
        .invalidData,
        "a cell of the output has the class \(greatest), though the file says that there are \(classCount)")
    }
    let shares = counts.indices.filter { counts[$0] > 0 }.sorted {
      counts[$0] > counts[$1] || counts[$0] == counts[$1] && $0 < $1
    }
    // One probability has two classes; only the second may have a name.
    if form != .probability { for index in shares { beyondNames.add(index, names) } }
    var result = SegmentationResult(
      imageWidth: placement.imageWidth, imageHeight: placement.imageHeight,
      categoryMask: options.outputsCategoryMask ? mask : [], classCount: classCount,
      confidenceMasks: confidences,
      classes: shares.map {
        .init(index: $0, label: names?.map[$0], share: Double(counts[$0]) / Double(seen.width * seen.height))
      })
    result.inputMask = inputMask
    return result
  }

  /// How often each class occurs in a mask, and among the pixels that the model saw.
  ///
  /// The others have the class of an edge, and are no part of what it found.
  private static func counts(
    of mask: [UInt16], width: Int, in seen: ImageTransform.Region
  ) -> (all: [Int], seen: [Int]) {
    var all = ClassCounts(kernels: Runtime.pictureKernels)
    all.add(mask.span)
    if seen.width * seen.height == mask.count { return (all.counters, all.counters) }
    var counts = ClassCounts(kernels: Runtime.pictureKernels)
    for y in seen.y..<seen.y + seen.height {
      let row = y * width + seen.x
      counts.add(mask.span.extracting(row..<row + seen.width))
    }
    return (all.counters, counts.counters)
  }
}
