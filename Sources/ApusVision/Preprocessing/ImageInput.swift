import Apus
import ApusFormat

/// The input of a model that sees pictures: its size, its type, and how pixels become its numbers.
struct ImageInput: Sendable {
  /// The width in pixels.
  let width: Int
  /// The height in pixels.
  let height: Int
  /// The channels, in order.
  let channels: ImageProcessor.Channels
  private let type: ElementType
  private let quantization: QuantizationParameters?
  private let normalization: Normalization?

  /// Reads what the model's only input is like, and gives it a size where the model leaves that open.
  ///
  /// - Parameters:
  ///   - size: The size for a model that leaves it open; otherwise it must be the model's.
  ///   - channels: The order of channels; rgb or gray by their number where nil.
  ///   - normalization: How pixels become numbers. Where nil, float32 inputs take the metadata's, or else
  ///     `(v − 127.5) / 127.5`; 8-bit inputs take the pixels as they are, less 128 where signed.
  init(
    of interpreter: Interpreter, metadata: TensorMetadata?, size: (width: Int, height: Int)? = nil,
    channels: ImageProcessor.Channels? = nil, normalization: Normalization? = nil
  ) throws(ApusError) {
    guard interpreter.inputs.count == 1, let tensor = interpreter.inputs.first else {
      throw ApusError(
        .invalidArgument, "the model has \(interpreter.inputs.count) inputs, not one for a picture")
    }
    let shape = tensor.shape
    guard shape.rank == 4, shape[0] == 1, shape[3] == 1 || shape[3] == 3 else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) is not a picture of 1×height×width×3, or ×1 for gray")
    }
    guard [.uint8, .int8, .float32].contains(tensor.type) else {
      throw ApusError(.invalidArgument, "the input \(tensor) does not take pixels as uint8, int8 or float32")
    }
    (width, height) = try Self.size(of: tensor, wanted: size, metadata)
    self.channels = channels ?? (shape[3] == 1 ? .gray : .rgb)
    guard self.channels.count == shape[3] else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) has \(shape[3]) channels, which \(self.channels.rawValue) has not")
    }
    if tensor.shape.dimensions != [1, height, width, shape[3]] {
      try interpreter.resizeInput(at: 0, to: [1, height, width, shape[3]])
    }
    type = tensor.type
    quantization = tensor.quantization
    let count = self.channels.count
    self.normalization = normalization ?? (type == .float32 ? Self.normalization(of: metadata, count) : nil)
    if normalization != nil, type != .float32, quantization == nil {
      throw ApusError(
        .invalidArgument, "the input \(tensor) has no scale, so that a normalization is of no use")
    }
  }

  /// The shape of a model's only input where the file leaves its height or width open; none otherwise.
  static func openShape(
    of model: Model, wanted: (width: Int, height: Int)?, _ metadata: TensorMetadata?
  ) throws(ApusError) -> [Int: TensorShape] {
    guard model.inputs.count == 1, let tensor = model.inputs.first, tensor.shape.rank == 4,
      tensor.shapeSignature.count == 4, tensor.shapeSignature[1] < 0 || tensor.shapeSignature[2] < 0
    else { return [:] }
    let (width, height) = try size(of: tensor, wanted: wanted, metadata)
    return [0: [1, height, width, tensor.shape[3]]]
  }

  private static func size(
    of tensor: Tensor, wanted: (width: Int, height: Int)?, _ metadata: TensorMetadata?
  ) throws(ApusError) -> (Int, Int) {
    let signature = tensor.shapeSignature
    let isOpen = signature.count == 4 && (signature[1] < 0 || signature[2] < 0)
    guard isOpen else {
      if let wanted, wanted != (tensor.shape[2], tensor.shape[1]) {
        throw ApusError(
          .invalidArgument,
          "the input \(tensor) is not \(wanted.width) × \(wanted.height) pixels, nor open to be")
      }
      return (tensor.shape[2], tensor.shape[1])
    }
    if let wanted { return wanted }
    if case .image(let properties) = metadata?.content, let width = properties.defaultWidth,
      let height = properties.defaultHeight, width > 0, height > 0
    {
      return (width, height)
    }
    throw ApusError(
      .invalidArgument,
      "the input \(tensor.name) leaves its size open (\(signature)): the options must choose it")
  }

  /// What the metadata says, unless it says nothing that can be used.
  private static func normalization(of metadata: TensorMetadata?, _ channels: Int) -> Normalization? {
    guard let found = metadata?.normalization,
      [1, channels].contains(found.mean.count), [1, channels].contains(found.std.count),
      found.mean.allSatisfy(\.isFinite), found.std.allSatisfy({ $0.isFinite && $0 > 0 })
    else { return nil }
    return .meanStd(mean: found.mean, std: found.std)
  }

  /// Writes a prepared picture into the input.
  func write(_ image: PreparedImage, to interpreter: Interpreter) throws(ApusError) {
    let (scale, zeroPoint) = (quantization?.scale ?? 1, quantization?.zeroPoint ?? 0)
    switch type {
    case .uint8:
      try interpreter.withInput(at: 0, as: UInt8.self) { span throws(ApusError) in
        try image.fill(&span, normalization: normalization, scale: scale, zeroPoint: zeroPoint)
      }
    case .int8:
      try interpreter.withInput(at: 0, as: Int8.self) { span throws(ApusError) in
        try image.fill(&span, normalization: normalization, scale: scale, zeroPoint: zeroPoint)
      }
    default:
      try interpreter.withInput(at: 0, as: Float.self) { span throws(ApusError) in
        try image.fill(&span, normalization: normalization)
      }
    }
  }
}
