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
  /// How the input that takes the rate as a number is read; nil if there is none.
  let rateInputReading: Assumption?
  /// A warning about the length of the input; nil if there is none.
  let lengthWarning: String?

  /// Checks that the model's only input besides the rate is a waveform, and prepares an interpreter.
  init(_ model: Model, options: AudioClassifier.Options) throws(ApusError) {
    self.model = model
    metadata = model.formatMetadata
    var rate = options.sampleRate
    var (source, reason) = (AssumptionSource.given, "the options")
    var isSound = false
    let places = try WaveformInput.Places(of: model)
    if let described = metadata?.inputs, described.indices.contains(places.waveform),
      case .audio(let stated, let channels) = described[places.waveform].content
    {
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
    let tensor = model.inputs[places.waveform]
    if !isSound, options.sampleRate == nil, let items = LookedUpInput(model) {
      throw items.refusal(of: tensor, not: "samples")
    }
    var interpreterOptions = options.interpreter
    let shape = try WaveformInput.shape(
      of: tensor, given: interpreterOptions.inputShapes[places.waveform], wanted: options.windowSampleCount)
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
    interpreterOptions.inputShapes[places.waveform] = shape
    self.interpreterOptions = interpreterOptions
    interpreter = try Interpreter(model: model, options: interpreterOptions)
    outputs = interpreter.outputs
    rateInputReading = places.rate.map { place in
      let isRead = WaveformInput.takesRate(place, of: model)
      return Assumption(
        "input \(place)", "the sample rate", isRead ? .model : .guess,
        reason: isRead
          ? "Mfcc takes it as the rate"
          : "\(model.inputs[place]) is one number beside a waveform", option: "--rate")
    }
    input = WaveformInput(
      tensor: interpreter.inputs[places.waveform], places: places, sampleRate: sampleRate,
      samples: try SampleReading(
        of: interpreter.inputs[places.waveform], input: places.waveform, in: model,
        given: options.sampleRange))
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

  /// Which inputs take what.
  struct Places: Sendable {
    /// The input that takes samples.
    let waveform: Int
    /// The input that takes the sample rate; nil if there is none.
    let rate: Int?

    /// Types of numbers that a rate can be.
    private static let types: Set<ElementType> = [.int32, .int64, .float32]

    /// Finds the inputs of a model: one for samples, and perhaps one number for their rate.
    init(of model: Model) throws(ApusError) {
      let inputs = model.inputs
      guard inputs.count == 2 else {
        guard inputs.count == 1 else { throw model.inputRefusal(for: "a waveform") }
        (waveform, rate) = (0, nil)
        return
      }
      let numbers = inputs.indices.filter { place in
        inputs[place].shapeSignature.allSatisfy { $0 == 1 } && Self.types.contains(inputs[place].type)
      }
      guard numbers.count == 1, let rate = numbers.first else {
        throw model.inputRefusal(for: "a waveform")
      }
      (waveform, self.rate) = (1 - rate, rate)
    }
  }

  private let tensor: Tensor
  private let places: Places
  private let sampleRate: Int
  /// How the range of samples is read.
  let samples: SampleReading

  /// Describes the inputs of a model as prepared.
  init(tensor: Tensor, places: Places, sampleRate: Int, samples: SampleReading) {
    self.tensor = tensor
    self.places = places
    self.sampleRate = sampleRate
    self.samples = samples
  }

  /// Whether the graph takes an input for the rate of a spectrogram's samples, as TensorFlow's models of commands do.
  static func takesRate(_ place: Int, of model: Model) -> Bool {
    let subgraph = model.file.subgraphs[0]
    return subgraph.operators.contains { node in
      node.inputs.count == 2 && node.inputs[1] == subgraph.inputs[place]
        && model.file.operatorCodes[node.operatorCode].customName == "Mfcc"
    }
  }

  /// How many samples the input takes.
  var sampleCount: Int { tensor.shape.elementCount }

  /// The shape of the input: all dimensions are 1 but that of the samples.
  static func shape(of tensor: Tensor, given: TensorShape?, wanted: Int?) throws(ApusError) -> TensorShape {
    var dimensions = given?.dimensions ?? tensor.shapeSignature
    let place = self.place(in: dimensions)
    for index in dimensions.indices where index != place && dimensions[index] < 0 { dimensions[index] = 1 }
    guard (1...4).contains(dimensions.count),
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

  /// The dimension of the samples: the only one that is not 1. Where none is known, the open one that is not the batch.
  private static func place(in dimensions: [Int]) -> Int {
    let usual = dimensions.count == 1 ? 0 : 1
    if let long = dimensions.firstIndex(where: { $0 > 1 }) {
      return dimensions.count(where: { $0 > 1 }) == 1 ? long : usual
    }
    return dimensions.dropFirst().firstIndex { $0 < 0 } ?? dimensions.firstIndex { $0 < 0 } ?? usual
  }

  /// Why a shape is no waveform, and what to do.
  private static func refusal(of dimensions: [Int]) -> String {
    let sides = dimensions.drop { $0 == 1 }.filter { $0 != 1 }
    if dimensions.count == 4, let channels = dimensions.last, channels == 3 || channels == 4, sides.count == 3
    {
      return "is a picture, not a waveform, whose dimensions are 1 but for one"
    }
    guard dimensions.first == 1, sides.count == 2 else {
      return "is not a waveform, whose dimensions are 1 but for one"
    }
    return """
      takes features of \(sides[0]) × \(sides[1]), probably a spectrogram or what is kept of one, not a waveform of samples; \
      compute them as for the model's training, and run it on them: apus run MODEL --input FEATURES.npy
      """
  }

  /// Writes as many samples as the input takes, and silence where there are no more.
  func write(_ samples: [Float], to interpreter: Interpreter) throws(ApusError) {
    let input = places.waveform
    try writeRate(to: interpreter)
    switch tensor.type {
    case .int16:
      try interpreter.withInput(at: input, as: Int16.self) { span in fill(&span, samples) }
    case .int8:
      try interpreter.withInput(at: input, as: Int8.self) { span in fill(&span, samples) }
    case .uint8:
      try interpreter.withInput(at: input, as: UInt8.self) { span in fill(&span, samples) }
    default:
      let one = self.samples.range.one
      try interpreter.withInput(at: input, as: Float.self) { span in
        for index in 0..<span.count {
          // Times a power of two is exact.
          span[index] = index < samples.count ? one * samples[index] : 0
        }
      }
    }
  }

  /// Writes the rate into the input that takes it.
  private func writeRate(to interpreter: Interpreter) throws(ApusError) {
    guard let place = places.rate else { return }
    switch interpreter.inputs[place].type {
    case .int32:
      try interpreter.withInput(at: place, as: Int32.self) { span in
        for index in 0..<span.count { span[index] = Int32(clamping: sampleRate) }
      }
    case .int64:
      try interpreter.withInput(at: place, as: Int64.self) { span in
        for index in 0..<span.count { span[index] = Int64(sampleRate) }
      }
    default:
      try interpreter.withInput(at: place, as: Float.self) { span in
        for index in 0..<span.count { span[index] = Float(sampleRate) }
      }
    }
  }

  /// Quantizes samples; int16 without a scale takes them as they are.
  private func fill<Value: FixedWidthInteger>(
    _ span: inout MutableSpan<Value>, _ samples: [Float]
  ) {
    let scale = tensor.quantization.map(\.scale) ?? 1
    let one = self.samples.range.one
    let zeroPoint = Float(tensor.quantization?.zeroPoint ?? 0)
    for index in 0..<span.count {
      let sample = index < samples.count ? samples[index] : 0
      let value = (one * sample / scale).rounded() + zeroPoint
      span[index] = value >= Float(Value.max) ? .max : value > Float(Value.min) ? Value(value) : .min
    }
  }
}
