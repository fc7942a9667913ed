// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Turns pictures into embeddings, whose distance says how alike the pictures are.
///
/// ```swift
/// let embedder = try ImageEmbedder(modelFile: "embedder.tflite")
/// let (one, other) = (try embedder.embed(first), try embedder.embed(second))
/// let alike = one.embeddings[0].cosineSimilarity(to: other.embeddings[0])
/// ```
///
/// Any number of threads can share an embedder.
public final class ImageEmbedder: VisionTask {
  /// How to embed.
  public struct Options: PictureOptions, Sendable {
    /// How pictures reach the model, and how it runs.
    public var baseOptions: BaseOptions
    /// Whether embeddings have length 1.
    public var normalizesEmbeddings = false

    /// Makes the default options, or those with the given base options.
    public init(baseOptions: BaseOptions = BaseOptions()) { self.baseOptions = baseOptions }
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model.
  public let assumptions: TaskAssumptions
  /// The number of coordinates of each embedding.
  public let dimensions: [Int]

  /// The most coordinates of all embeddings of a picture together.
  private static let maximumDimension = 1 << 20

  let pictures: PictureModel
  let model: Model
  /// The outputs that are embeddings, and their names.
  private let heads: [(output: Int, name: String)]

  /// The width of the model's input, in pixels.
  public var inputWidth: Int { pictures.processor.width }

  /// The height of the model's input, in pixels.
  public var inputHeight: Int { pictures.processor.height }

  /// Makes an embedder from a model with one picture in and `1×N` numbers out, for each embedding. Other outputs beside such a row, such as the
  /// last map or the features of each patch, are left out, which a warning says.
  ///
  /// - Throws: `invalidArgument` if the model is not an embedder; errors of `Apus.Interpreter`.
  public init(model: Model, options: Options = Options()) throws(ApusError) {
    self.options = options
    self.model = model
    let prepared = try PreparedModel(model, options: options.baseOptions)
    let rows = prepared.outputs.indices.compactMap { output in
      prepared.rowLength(of: output).map { (output: output, count: $0) }
    }
    let others = prepared.outputs.indices.filter { prepared.rowLength(of: $0) == nil }
    guard !prepared.outputs.isEmpty else {
      throw ApusError(.invalidArgument, "the model has no output, so no embedding")
    }
    // A number beside a map, such as how many rows of it count, is no embedding.
    guard !rows.isEmpty, others.isEmpty || rows.allSatisfy({ $0.count > 1 }) else {
      throw ApusError(
        .invalidArgument,
        "the model's outputs are not those of an embedder (1×N numbers), but: \(prepared.outputDescription)"
      )
    }
    let dimensions = rows.map(\.count)
    // No overflow: outputs are limited in number and size.
    let total = dimensions.reduce(0, +)
    guard total <= Self.maximumDimension else {
      throw ApusError(
        .resourceLimit, "the model's embeddings have \(total) coordinates, at most \(Self.maximumDimension)")
    }
    self.dimensions = dimensions
    heads = rows.map { ($0.output, prepared.name(of: $0.output)) }
    pictures = try PictureModel(
      prepared,
      defaults: PictureDefaults(exportedBy: prepared.export, as: "classify", usual: PictureDefaults()))
    assumptions = TaskAssumptions(
      task: "embedder", kind: dimensions.count == 1 ? "one output" : "\(dimensions.count) outputs",
      reason: Self.reason(others.isEmpty), pictures: pictures,
      roles: Dictionary(uniqueKeysWithValues: rows.map { ($0.output, "\($0.count) coordinates") }),
      readings: [Assumption("layout", "embedding", .guess, reason: Self.reason(others.isEmpty))],
      steps: options.normalizesEmbeddings ? ["each is divided by the root of the sum of its squares"] : [],
      warnings: options.normalizesEmbeddings && dimensions.allSatisfy { $0 == 1 }
        ? [
          "the model gives one number for a picture, which is 1 or -1 at length 1, whatever the picture: --raw gives it as it is"
        ]
        : others.isEmpty
          ? []
          : [
            "outputs that are no rows of numbers are left out: "
              + others.map { prepared.outputs[$0].description }.joined(separator: ", ")
          ])
  }

  /// The evidence for embeddings, in words.
  private static func reason(_ areAllRows: Bool) -> String {
    areAllRows ? "each output is a row of numbers" : "some outputs are rows of numbers"
  }

  /// Makes an embedder from a file.
  ///
  /// - Throws: `unreadableFile`, `malformedModel`, or what the other initializer throws.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(model: Model(contentsOfFile: modelFile), options: options)
  }

  /// The embeddings of a picture, or of a region of it.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value;
  ///   `resourceLimit` if the run takes more than the options of `interpreter` allow.
  public func embed(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> EmbeddingResult {
    try pictures.run(image, in: region, cancellation: cancellation, result)
  }

  /// The embeddings of a picture, away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func embed(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> EmbeddingResult
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> EmbeddingResult
  {
    try embed(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [EmbeddingResult]
  {
    try pictures.run(images, cancellation: cancellation, result)
  }

  private func result(of run: ModelRun, in placement: Placement) throws(ApusError) -> EmbeddingResult {
    var embeddings: [Embedding] = []
    for (output, name) in heads {
      let embedding = Embedding(try run.values(of: output), headIndex: output, headName: name)
      guard embedding.values.allSatisfy(\.isFinite) else {
        throw ApusError(
          .invalidData,
          "output \(output) (\(name)) has a coordinate that is not finite, so it is no embedding")
      }
      embeddings.append(options.normalizesEmbeddings ? embedding.l2Normalized() : embedding)
    }
    return EmbeddingResult(
      imageWidth: placement.imageWidth, imageHeight: placement.imageHeight, embeddings: embeddings)
  }
}
