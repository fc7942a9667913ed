// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// A model's only input as a picture: which dimension is which, and which are open.
struct InputGeometry: Sendable {
  /// The width in pixels.
  let width: Int
  /// The height in pixels.
  let height: Int
  /// One, three or four.
  let channelCount: Int
  /// Whether channels come before rows (NCHW).
  let isPlanar: Bool
  /// Whether a run can take several pictures.
  let isBatchOpen: Bool
  /// How many pictures each run takes, if the model fixes a number; otherwise 1.
  let fixedBatch: Int
  /// Whether the shape has no dimension for channels, so that only its sizes say that the input is a picture.
  let isBare: Bool
  /// Whether all pixels are in a row, so that the shape has no rows and columns.
  let isRow: Bool
  /// The guess about the shape, in words; nil if the shape is that of a picture.
  let guess: String?

  /// Whether rows and columns of an output have about the proportions of the picture, as a map of it has, also one without its edges. Rows of
  /// candidates and their numbers have not.
  func isProportional(height rows: Int, width columns: Int) -> Bool {
    let (one, other) = (rows * width, columns * height)
    return rows > 1 && columns > 1 && 4 * max(one, other) <= 5 * min(one, other)
  }

  /// Whether rows and columns have the proportions of the picture, but for rounding.
  func hasProportions(height rows: Int, width columns: Int) -> Bool {
    abs(rows * width - columns * height) <= max(width, height)
  }

  /// The shape for one run, with every dimension known.
  private let dimensions: [Int]
  private let batchAxis: Int?

  /// The most pictures that a model may fix for each run.
  private static let maximumFixedPictures = 256

  /// Reads the model's only input, and gives it a size if the model leaves that open.
  ///
  /// - Parameters:
  ///   - given: The shape that the interpreter's options give the input.
  ///   - wanted: The size for a model that leaves it open, or takes all pixels in a row; otherwise it must be the model's.
  init(
    of model: Model, given: TensorShape?, wanted: (width: Int, height: Int)?, _ metadata: TensorMetadata?,
    _ export: ExportMetadata?
  ) throws(ApusError) {
    guard model.inputs.count == 1, let tensor = model.inputs.first else {
      throw model.inputRefusal(for: "a picture")
    }
    var shape = given?.dimensions ?? tensor.shapeSignature
    if given == nil, shape.count != tensor.shape.rank { shape = tensor.shape.dimensions }
    if case .audio = metadata?.content {
      throw ApusError(
        .invalidArgument, "the input \(tensor) takes sound, as its metadata says, not a picture")
    }
    let layout = try InputLayout(of: tensor, shape, metadata, wanted: wanted)
    guard Self.types.contains(tensor.type) else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) does not take pixels as integers of 8 to 64 bits or as floats of 16 to 64")
    }
    isPlanar = layout.isPlanar
    channelCount = layout.channelCount
    isBare = layout.isBare
    isRow = layout.axes == nil
    // A requested size says that the input is a picture.
    guess = wanted == nil ? layout.guess : nil
    if guess != nil, let items = LookedUpInput(model) { throw items.refusal(of: tensor, not: "pixels") }
    let batch = layout.batchAxis.map { shape[$0] } ?? 1
    isBatchOpen = given == nil && batch < 0
    fixedBatch = max(batch, 1)
    guard batch != 0, fixedBatch <= Self.maximumFixedPictures else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) takes \(batch) pictures at once, not 1 to \(Self.maximumFixedPictures) or a number left open"
      )
    }
    batchAxis = isBatchOpen ? layout.batchAxis : nil
    if let size = layout.size {
      if let wanted, wanted != size {
        throw ApusError(
          .invalidArgument,
          "the input \(tensor) is not \(wanted.width) × \(wanted.height) pixels, and its size is not open")
      }
      (width, height) = size
    } else {
      (width, height) = try Self.openSize(of: tensor, wanted, metadata, export)
    }
    var dimensions = shape
    if let axis = layout.batchAxis { dimensions[axis] = fixedBatch }
    if let axes = layout.axes { (dimensions[axes.row], dimensions[axes.column]) = (height, width) }
    self.dimensions = dimensions
  }

  /// The types of pixels that inputs take.
  static let types: Set<ElementType> = [
    .uint8, .int8, .int16, .uint16, .int32, .uint32, .int64, .float16, .bfloat16, .float32, .float64,
  ]

  private static func openSize(
    of tensor: Tensor, _ wanted: (width: Int, height: Int)?, _ metadata: TensorMetadata?,
    _ export: ExportMetadata?
  ) throws(ApusError) -> (Int, Int) {
    if let wanted { return wanted }
    if case .image(let properties) = metadata?.content, let width = properties.defaultWidth,
      let height = properties.defaultHeight, width > 0, height > 0
    {
      return (width, height)
    }
    if let size = export?.imageSize { return (size.width, size.height) }
    throw ApusError(
      .invalidArgument,
      "the input \(tensor.name) leaves its size open (\(tensor.shapeSignature)): choose it by --input-size WIDTHxHEIGHT (inputSize)"
    )
  }

  /// A warning if the guess about the shape is doubtful; nil otherwise.
  var doubt: String? {
    guard guess != nil else { return nil }
    let (what, other): (String, String)
    if isRow {
      (what, other) = ("takes \(width * height) numbers in a row", "they may be features")
    } else if width != height {
      (what, other) = ("has \(height) rows of \(width) numbers and no channels", "it may be a spectrogram")
    } else {
      return nil
    }
    return
      "the input \(what): taken for a gray picture, though \(other); --input-size \(width)x\(height) says that it is one"
  }

  /// The shape of the input for this many pictures; a number that the model fixes stays as it is.
  func shape(batch: Int) -> TensorShape {
    var dimensions = dimensions
    if let batchAxis { dimensions[batchAxis] = batch }
    return TensorShape(dimensions)
  }

  /// An output as it is for one picture: without the other pictures of a fixed batch.
  ///
  /// - Throws: `invalidArgument` if the output does not have a row for each picture.
  func single(_ output: Tensor) throws(ApusError) -> Tensor {
    guard fixedBatch > 1 else { return output }
    guard output.shape.rank > 0, output.shape[0] == fixedBatch else {
      throw ApusError(
        .invalidArgument,
        "the model takes \(fixedBatch) pictures at once, but its output \(output) does not have a row for each"
      )
    }
    return output.reshaped(TensorShape([1] + output.shape.dimensions.dropFirst()))
  }
}
