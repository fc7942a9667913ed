// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// A model that takes a waveform, ready to be asked.
struct PreparedWaveformModel: DescribedModel {
  let model: Model
  let metadata: ModelMetadata?
  let export: ExportMetadata? = nil
  let interpreter: Interpreter
  let outputs: [Tensor]
  let interpreterOptions: Interpreter.Options
  let input: WaveformInput
  let sampleRate: Int
  /// How the rate is read.
  let rateReading: Assumption
  /// A warning about the length of the input; nil if there is none.
  let lengthWarning: String?

  /// Checks that the model's only input is a waveform, and prepares an interpreter.
  init(_ model: Model, options: AudioClassifier.Options) throws(ApusError) {
    self.model = model
    metadata = model.formatMetadata
    var rate = options.sampleRate
    var (source, reason) = (AssumptionSource.given, "the options")
    var isSound = false
    if case .audio(let stated, let channels) = metadata?.inputs.first?.content {
      guard channels <= 1 else {
        throw ApusError(.invalidArgument, "the model takes \(channels) channels of sound, not 1")
      }
      isSound = true
      if rate == nil, stated > 0 { (rate, source, reason) = (stated, .model, "the metadata's sample rate") }
    }
    if rate == nil { (source, reason) = (.guess, "usual for models whose file does not say") }
    sampleRate = rate ?? 16_000
    rateReading = Assumption("sample rate", "\(sampleRate) Hz", source, reason: reason, option: "--rate")
    try AudioClip.check(sampleRate: sampleRate, channelCount: 1, code: .invalidArgument)
    guard model.inputs.count == 1, let tensor = model.inputs.first else {
      throw ApusError(
        .invalidArgument, "the model has \(model.inputs.count) inputs, not one for a waveform")
    }
    if !isSound, options.sampleRate == nil, let items = LookedUpInput(model) {
      throw items.refusal(of: tensor, not: "samples")
    }
    var interpreterOptions = options.interpreter
    let shape = try WaveformInput.shape(
      of: tensor, given: interpreterOptions.inputShapes[0], wanted: options.windowSampleCount)
    guard isSound || shape.elementCount >= WaveformInput.minimumSampleCount else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) takes \(shape.elementCount) numbers, too few for a waveform: its metadata does not say that it is one"
      )
    }
    let isShort = shape.elementCount < WaveformInput.usualSampleCount
    lengthWarning =
      isShort && !isSound && options.sampleRate == nil
      ? """
      the input \(tensor) takes \(shape.elementCount) numbers: taken for samples, though so few may be features of a sound; --rate (sampleRate) \
      says that they are samples
      """ : nil
    interpreterOptions.inputShapes[0] = shape
    self.interpreterOptions = interpreterOptions
    interpreter = try Interpreter(model: model, options: interpreterOptions)
    outputs = interpreter.outputs
    input = WaveformInput(tensor: interpreter.inputs[0])
  }
}

/// The input of a model that takes a waveform, and how samples become its numbers.
struct WaveformInput: Sendable {
  /// The longest window, in samples.
  static let maximumSampleCount = 1 << 24
  /// The shortest window, in samples, of a model whose metadata does not say that it takes sound.
  static let minimumSampleCount = 64
  /// The shortest window that is usual: a quarter of a second at 16 kHz. Features of a sound are some hundred or two thousand numbers, and
  /// what hears less, such as a detector of voices, needs its rate.
  static let usualSampleCount = 4_000

  private let tensor: Tensor

  init(tensor: Tensor) { self.tensor = tensor }

  /// How many samples the input takes.
  var sampleCount: Int { tensor.shape.elementCount }

  /// The shape of the input: all dimensions are 1 but that of the samples.
  static func shape(of tensor: Tensor, given: TensorShape?, wanted: Int?) throws(ApusError) -> TensorShape {
    var dimensions = given?.dimensions ?? tensor.shapeSignature
    // The first dimension of several is the batch, and the last of three the channels.
    let place = dimensions.count == 1 ? 0 : 1
    for index in dimensions.indices where index != place && dimensions[index] < 0 { dimensions[index] = 1 }
    guard (1...3).contains(dimensions.count),
      dimensions.indices.allSatisfy({ $0 == place || dimensions[$0] == 1 })
    else {
      throw ApusError(.invalidArgument, "the input \(tensor) \(refusal(of: dimensions))")
    }
    guard [.float32, .int16, .int8, .uint8].contains(tensor.type),
      tensor.type == .float32 || tensor.type == .int16 || tensor.quantization != nil
    else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) does not take samples as float32, as int16, or as int8 or uint8 with a scale")
    }
    if tensor.type != .float32, let scale = tensor.quantization?.scale, !(scale > 0 && scale.isFinite) {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) has the quantization scale \(scale), not a finite number above 0")
    }
    if dimensions[place] < 0 {
      guard let wanted else {
        throw ApusError(
          .invalidArgument,
          "the input \(tensor.name) leaves its length open (\(tensor.shapeSignature)): choose it by --window SAMPLES (windowSampleCount)"
        )
      }
      dimensions[place] = wanted
    } else if let wanted, wanted != dimensions[place] {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) takes \(dimensions[place]) samples, and is not open for \(wanted)")
    }
    guard (2...maximumSampleCount).contains(dimensions[place]) else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) takes \(dimensions[place]) samples, not 2 to \(maximumSampleCount)")
    }
    return TensorShape(dimensions)
  }

  /// Why a shape is no waveform, and what to do.
  private static func refusal(of dimensions: [Int]) -> String {
    let sides = dimensions.drop { $0 == 1 }.filter { $0 != 1 }
    if dimensions.count == 4, let channels = dimensions.last, channels == 3 || channels == 4, sides.count == 3
    {
      return "is a picture, not a waveform of N, 1×N or 1×N×1 samples"
    }
    guard dimensions.first == 1, sides.count == 2 else {
      return "is not a waveform of N, 1×N or 1×N×1 samples"
    }
    return """
      takes features of \(sides[0]) × \(sides[1]), probably a spectrogram or what is kept of one, not a waveform of samples; \
      compute them as for the model's training, and run it on them: apus run MODEL --input FEATURES.npy
      """
  }

  /// Writes as many samples as the input takes, and silence where there are no more.
  func write(_ samples: [Float], to interpreter: Interpreter) throws(ApusError) {
    switch tensor.type {
    case .int16:
      try interpreter.withInput(at: 0, as: Int16.self) { span in fill(&span, samples) }
    case .int8:
      try interpreter.withInput(at: 0, as: Int8.self) { span in fill(&span, samples) }
    case .uint8:
      try interpreter.withInput(at: 0, as: UInt8.self) { span in fill(&span, samples) }
    default:
      try interpreter.withInput(at: 0, as: Float.self) { span in
        for index in 0..<span.count {
          span[index] = index < samples.count ? samples[index] : 0
        }
      }
    }
  }

  /// Quantizes samples; int16 without a scale takes −1 to 1 as −32,768 to 32,768.
  private func fill<Value: FixedWidthInteger>(
    _ span: inout MutableSpan<Value>, _ samples: [Float]
  ) {
    let scale = tensor.quantization.map(\.scale) ?? 1 / 32_768
    let zeroPoint = Float(tensor.quantization?.zeroPoint ?? 0)
    for index in 0..<span.count {
      let sample = index < samples.count ? samples[index] : 0
      let value = (sample / scale).rounded() + zeroPoint
      span[index] = value >= Float(Value.max) ? .max : value > Float(Value.min) ? Value(value) : .min
    }
  }
}
