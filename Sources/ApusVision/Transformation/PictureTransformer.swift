// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Turns pictures into pictures (style, super-resolution, deblurring), or into one number for each pixel, such as depth.
///
/// ```swift
/// let transformer = try PictureTransformer(modelFile: "style.tflite")
/// let painted = try transformer.transform(picture).picture
/// ```
///
/// Results have the size of the model's output, or with ``Options/fitsOutput`` that of the picture. Any number of threads can share a
/// transformer.
public final class PictureTransformer: VisionTask {
  /// How to transform.
  public struct Options: PictureOptions, Sendable {
    /// How pictures reach the model, and how it runs.
    public var baseOptions: BaseOptions
    /// How the output's numbers were made of pixels; nil for what its quantization, the last operators or the input say.
    public var outputPixels: Normalization?
    /// Whether results have the size of the picture, or of the region that the model saw, instead of the output's.
    public var fitsOutput = false

    /// Makes the default options, or those with the given base options.
    public init(baseOptions: BaseOptions = BaseOptions()) { self.baseOptions = baseOptions }
  }

  /// Where an output has its pixels.
  private struct Grid {
    let output: Int
    let width: Int
    let height: Int
    let channels: MaskEnlargement.Channels
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model.
  public let assumptions: TaskAssumptions

  let pictures: PictureModel
  private let grid: Grid
  private let pixels: OutputPixels

  /// The maximum number of values of a result.
  private static let maximumValues = 1 << 28

  /// Makes a transformer.
  ///
  /// - Parameters:
  ///   - model: The model: one picture in; `1×height×width×channels` or `1×channels×height×width` out, with 1, 3 or 4 channels, or
  ///     `1×height×width`.
  ///   - options: How to transform.
  /// - Throws: `invalidArgument` if the model is no such model; errors of `Apus.Interpreter`.
  public init(model: Model, options: Options = Options()) throws(ApusError) {
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions, outputLimit: 1 << 27)
    try prepared.checkTask([], for: "transform")
    let found = prepared.outputs.indices.compactMap { Self.grid(prepared, $0) }
    func hasProportions(_ grid: Grid) -> Bool {
      prepared.geometry.hasProportions(height: grid.height, width: grid.width)
    }
    // Rows of points, such as 20 poses of 17 points, only resemble a picture.
    let grids = found.filter(hasProportions) + found.filter { !hasProportions($0) }
    guard let grid = grids.first else {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not pictures (1×height×width×channels with 1, 3 or 4 channels, or 1×height×width numbers, in about the \
        proportions of the input, \(prepared.geometry.height)×\(prepared.geometry.width)), but: \(prepared.outputDescription)
        """)
    }
    self.grid = grid
    let count = grid.channels.count
    let origin = BoundsSearch(model, input: .unknown).origin(of: model.file.subgraphs[0].outputs[grid.output])
    guard count == 1 || origin != .softmax else {
      throw ApusError(
        .invalidArgument,
        """
        the output \(prepared.outputs[grid.output]) is computed by SOFTMAX, so it has the scores of \(count) classes; \
        'apus segment' (ImageSegmenter) gives them
        """)
    }
    let stated = try OutputPixels(of: grid.output, channels: count, in: prepared)
    // Most models scale their output pixels like their input pixels.
    var defaults = PictureDefaults()
    defaults.normalization = .unit
    if let range = stated?.normalization, range == .signed || range == .raw {
      (defaults.normalization, defaults.reason) = (range, "usual for models with such an output")
    }
    pictures = try PictureModel(prepared, defaults: defaults)
    if let given = options.outputPixels {
      if case .meanStd(let mean, let std) = given,
        ![1, count].contains(mean.count) || ![1, count].contains(std.count)
      {
        throw ApusError(
          .invalidArgument,
          "the output pixels have \(mean.count) and \(std.count) numbers for \(count) channels")
      }
      guard given != .perImageStandardization else {
        throw ApusError(
          .invalidArgument, "the output's pixels cannot be standardized: the picture's mean is lost")
      }
      pixels = OutputPixels(given, .given, "the options")
    } else if count == 1, prepared.geometry.channelCount > 1 || stated == nil {
      pixels = OutputPixels(
        nil, stated == nil ? .guess : .model,
        stated == nil
          ? "usual for one number whose range is open"
          : "the output has one channel, and the input has colors")
    } else if let stated {
      pixels = stated
    } else {
      pixels = try .following(
        pictures.input.normalization ?? .raw, of: grid.output, channels: count, in: model)
    }
    for channel in 0..<count {
      let (black, white) = pixels.range(channel, of: count)
      guard black.isFinite, white.isFinite, white > black else {
        throw ApusError(
          .invalidArgument,
          "with output pixels of \(pixels.assumption.value) (\(pixels.reason)), black is \(black) and white is \(white), "
            + "which is no range; --output-pixels decides")
      }
    }
    let kind = pixels.normalization == nil ? "one number for each pixel" : "a picture"
    assumptions = TaskAssumptions(
      task: "transformer", kind: kind, reason: "the output has rows and columns", pictures: pictures,
      roles: [
        grid.output:
          "\(grid.width) × \(grid.height) pixels, \(grid.channels.perChannel == 1 ? "channels last" : "channels first")"
      ],
      readings: [pixels.assumption],
      steps: [
        pixels.normalization == nil
          ? "the smallest number becomes 0 and the largest 65535" : "black to white becomes 0 to 255",
        options.fitsOutput ? "resized bilinearly to the picture" : "in the size of the output",
      ], warnings: Self.choiceWarnings(grids.map { prepared.outputs[$0.output] }))
  }

  /// Makes a transformer from a file.
  ///
  /// - Throws: `unreadableFile`, `malformedModel`, or what the other initializer throws.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(model: Model(contentsOfFile: modelFile), options: options)
  }

  /// Says that there are other outputs than the one that is taken.
  private static func choiceWarnings(_ outputs: [Tensor]) -> [String] {
    guard outputs.count > 1, let first = outputs.first else { return [] }
    let others = outputs.dropFirst().prefix(4).map(\.description).joined(separator: ", ")
    return [
      "\(outputs.count) outputs of the model may be pictures: the first is taken, \(first); 'apus run' gives the others: "
        + others + (outputs.count > 5 ? ", …" : "")
    ]
  }

  /// The grid that an output's shape describes; nil if it describes none. Channels are where the input has
  /// them, unless only the other place has 1, 3 or 4.
  private static func grid(_ prepared: PreparedModel, _ output: Int) -> Grid? {
    let shape = prepared.gridShape(of: output)
    guard shape.first == 1, shape.allSatisfy({ $0 > 0 && $0 <= ImageBuffer.maximumSide }) else { return nil }
    let geometry = prepared.geometry
    if shape.count == 3, geometry.isProportional(height: shape[1], width: shape[2]) {
      return Grid(
        output: output, width: shape[2], height: shape[1],
        channels: .init(count: 1, perCell: 1, perChannel: 1))
    }
    guard shape.count == 4 else { return nil }
    let counts = [1, 3, 4]
    let last = counts.contains(shape[3]) && geometry.isProportional(height: shape[1], width: shape[2])
    let first = counts.contains(shape[1]) && geometry.isProportional(height: shape[2], width: shape[3])
    guard last || first else { return nil }
    if last && (!first || !geometry.isPlanar) {
      return Grid(
        output: output, width: shape[2], height: shape[1],
        channels: .init(count: shape[3], perCell: shape[3], perChannel: 1))
    }
    return Grid(
      output: output, width: shape[3], height: shape[2],
      channels: .init(count: shape[1], perCell: 1, perChannel: shape[2] * shape[3]))
  }

  // MARK: Transforming

  /// The width of the model's output, in pixels.
  public var outputWidth: Int { grid.width }

  /// The height of the model's output, in pixels.
  public var outputHeight: Int { grid.height }

  /// Turns a picture into a picture, or into one number for each pixel.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value, or the output's
  ///   numbers are not those of a picture; `resourceLimit` if the result is too large, or the run takes more than the options of
  ///   `interpreter` allow.
  public func transform(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> TransformedPicture {
    try pictures.run(image, in: region, cancellation: cancellation, result)
  }

  /// Turns a picture into a picture, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func transform(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> TransformedPicture
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> TransformedPicture
  {
    try transform(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [TransformedPicture]
  {
    try pictures.run(images, cancellation: cancellation, result)
  }

  private func result(of run: ModelRun, in placement: Placement) throws(ApusError) -> TransformedPicture {
    let (width, height) =
      options.fitsOutput
      ? (placement.seenPixels.width, placement.seenPixels.height) : (grid.width, grid.height)
    let count = grid.channels.count
    // No overflow: a picture has at most 2²⁸ pixels, and an output fewer numbers.
    guard width * height * count <= Self.maximumValues else {
      throw ApusError(
        .resourceLimit,
        "\(width) × \(height) pixels of \(count) channels are more than \(Self.maximumValues) numbers")
    }
    try requireMemory(9 * width * height * count, for: "a picture of \(width) × \(height) pixels")
    var values = [Float](repeating: 0, count: width * height * count)
    try run.withValues(of: grid.output) { numbers throws(ApusError) in
      guard numbers.count == grid.width * grid.height * count else {
        throw ApusError(.invalidData, "output \(grid.output) has another shape than when prepared")
      }
      for channel in 0..<count { try check(numbers, channel) }
      guard options.fitsOutput else {
        for pixel in 0..<width * height {
          for channel in 0..<count {
            values[pixel * count + channel] =
              numbers[pixel * grid.channels.perCell + channel * grid.channels.perChannel]
          }
        }
        return
      }
      let enlargement = MaskEnlargement(
        placement, area: placement.seenPixels, gridWidth: grid.width, gridHeight: grid.height
      ).bilinear(grid.channels)
      for channel in 0..<count {
        let plane = enlargement.enlarged(numbers, channel: channel)
        for pixel in plane.indices { values[pixel * count + channel] = plane[pixel] }
        try run.checkTime()
      }
    }
    return TransformedPicture(
      imageWidth: placement.imageWidth, imageHeight: placement.imageHeight, width: width, height: height,
      channelCount: count, values: values, isBGR: pictures.input.channels == .bgr, pixels: pixels)
  }

  /// Holds the numbers of a channel against the reading.
  private func check(_ numbers: Span<Float>, _ channel: Int) throws(ApusError) {
    var (low, high) = (Float.infinity, -Float.infinity)
    for cell in 0..<grid.width * grid.height {
      let value = numbers[cell * grid.channels.perCell + channel * grid.channels.perChannel]
      guard value.isFinite else {
        throw ApusError(.invalidData, "output \(grid.output) has the value \(value), which is no pixel")
      }
      low = min(low, value)
      high = max(high, value)
    }
    try pixels.check(low, high, channel: channel, of: grid.channels.count)
  }
}
