// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// A model's only input as a picture: which dimension is which, and which are open.
struct InputGeometry: Sendable {
  /// The width in pixels.
  let width: Int
  /// The height in pixels.
  let height: Int
  /// One or three.
  let channelCount: Int
  /// Whether channels come before rows (NCHW).
  let isPlanar: Bool
  /// Whether a run can take several pictures.
  let isBatchOpen: Bool

  /// Reads the model's only input, and gives it a size if the model leaves that open.
  ///
  /// - Parameters:
  ///   - given: The shape that the interpreter's options give the input.
  ///   - wanted: The size for a model that leaves it open; otherwise it must be the model's.
  init(
    of model: Model, given: TensorShape?, wanted: (width: Int, height: Int)?, _ metadata: TensorMetadata?,
    _ export: ExportMetadata?
  ) throws(ApusError) {
    guard model.inputs.count == 1, let tensor = model.inputs.first else {
      throw ApusError(
        .invalidArgument, "the model has \(model.inputs.count) inputs, not one for a picture")
    }
    var shape = given?.dimensions ?? tensor.shapeSignature
    if given == nil, shape.count != 4 { shape = tensor.shape.dimensions }
    guard shape.count == 4, let channels = Self.channels(shape) else {
      throw ApusError(
        .invalidArgument,
        """
        the input \(tensor) is not a picture of 1×height×width×3 or 1×3×height×width, or with 1 channel for gray
        """)
    }
    isPlanar = channels.isPlanar
    channelCount = channels.count
    isBatchOpen = given == nil && shape[0] < 0
    guard shape[0] == 1 || isBatchOpen else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) takes \(shape[0]) pictures at once, not 1×height×width×3 or a number left open")
    }
    guard [.uint8, .int8, .int16, .int32, .float32].contains(tensor.type) else {
      throw ApusError(
        .invalidArgument, "the input \(tensor) does not take pixels as uint8, int8, int16, int32 or float32")
    }
    let (rows, columns) = isPlanar ? (shape[2], shape[3]) : (shape[1], shape[2])
    if rows >= 0, columns >= 0 {
      if let wanted, wanted != (columns, rows) {
        throw ApusError(
          .invalidArgument,
          "the input \(tensor) is not \(wanted.width) × \(wanted.height) pixels, and its size is not open")
      }
      (width, height) = (columns, rows)
    } else {
      (width, height) = try Self.openSize(of: tensor, wanted, metadata, export)
    }
  }

  /// Looks for three channels before one, in the last dimension before the second.
  private static func channels(_ shape: [Int]) -> (count: Int, isPlanar: Bool)? {
    for count in [3, 1] {
      if shape[3] == count { return (count, false) }
      if shape[1] == count { return (count, true) }
    }
    return nil
  }

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
      "the input \(tensor.name) leaves its size open (\(tensor.shapeSignature)): the options must choose it")
  }

  /// The shape of the input for this many pictures.
  func shape(batch: Int) -> TensorShape {
    isPlanar ? [batch, channelCount, height, width] : [batch, height, width, channelCount]
  }
}
