// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusRuntime
import ApusSystem
import Synchronization

/// A prepared model: what a task examines to recognize the kind of model.
struct PreparedModel: DescribedModel {
  let model: Model
  let metadata: ModelMetadata?
  let export: ExportMetadata?
  let geometry: InputGeometry
  let interpreter: Interpreter
  /// The outputs as prepared for one picture, in the model's order.
  let outputs: [Tensor]
  let options: BaseOptions
  fileprivate let interpreterOptions: Interpreter.Options

  /// The most outputs: tasks look at all of them to recognize the kind of model.
  private static let maximumOutputs = 256

  /// Checks that the model's only input is a picture, and prepares an interpreter.
  ///
  /// - Parameter outputLimit: The maximum number of elements of an output. By default, as many as a task looks at one by one within
  ///   a second or two, whatever they are.
  init(_ model: Model, options: BaseOptions, outputLimit: Int = 1 << 26) throws(ApusError) {
    self.model = model
    self.options = options
    metadata = model.formatMetadata
    export = model.exportMetadata
    var interpreterOptions = options.interpreter
    geometry = try InputGeometry(
      of: model, given: interpreterOptions.inputShapes[0], wanted: options.inputSize, metadata?.inputs.first,
      export)
    interpreterOptions.inputShapes[0] = geometry.shape(batch: 1)
    self.interpreterOptions = interpreterOptions
    interpreter = try Interpreter(model: model, options: interpreterOptions)
    var outputs: [Tensor] = []
    for output in interpreter.outputs { outputs.append(try geometry.single(output)) }
    self.outputs = outputs
    guard outputs.count <= Self.maximumOutputs else {
      throw ApusError(
        .resourceLimit,
        "the model has \(outputs.count) outputs, more than the limit of \(Self.maximumOutputs) for answers about pictures"
      )
    }
    for (position, output) in outputs.enumerated() {
      guard output.shape.elementCount <= outputLimit else {
        throw ApusError(
          .resourceLimit,
          "output \(position) (\(output.name)) has \(output.shape.elementCount) elements, more than the limit of "
            + "\(outputLimit) for such answers about pictures")
      }
    }
  }
}

/// The part that all tasks share: preparing pictures, running the model, timing the stages.
///
/// Any number of threads may use it at the same time.
final class PictureModel: Sendable {
  let model: Model
  let metadata: ModelMetadata?
  let export: ExportMetadata?
  let input: ImageInput
  /// How pixels, channels and pictures of other proportions are read.
  let readings: [Assumption]
  /// Warnings about the input.
  let warnings: [String]
  let processor: ImageProcessor
  let outputs: [Tensor]
  /// The files of the model that may have names of classes, and why none is read.
  let unreadLabels: String?
  private let threads: Int
  /// How long a run may take, and until when.
  private let timeLimit: Duration?
  private let lastMoment: Moment?
  private let interpreters: InterpreterPool
  /// For each number of pictures that was tried, whether they may share a run.
  private let joins = Mutex<[Int: Bool]>([:])

  /// The maximum number of pictures in one run.
  private static let maximumBatch = 16

  /// Prepares the input.
  ///
  /// - Parameter lacksLabels: Whether the task has classes without names: only then are files looked for that may have them.
  init(
    _ prepared: PreparedModel, defaults: PictureDefaults, lacksLabels: Bool = false
  ) throws(ApusError) {
    model = prepared.model
    metadata = prepared.metadata
    export = prepared.export
    outputs = prepared.outputs
    unreadLabels = lacksLabels ? LabelSource.unread(of: prepared.model) : nil
    let options = prepared.options
    input = try ImageInput(
      prepared.geometry, tensor: prepared.interpreter.inputs[0], metadata: prepared.metadata?.inputs.first,
      export: prepared.export, options: options, defaults: defaults,
      arithmetic: FirstArithmetic(prepared.model, channels: prepared.geometry.channelCount))
    let fit = options.fit?.completed(by: defaults.fit) ?? defaults.fit
    readings =
      [
        input.pixels, input.channelOrder,
        Assumption(
          "fit", fit.name, options.fit == nil ? defaults.source : .given,
          reason: options.fit == nil ? defaults.reason : "the options", option: "--fit"),
      ] + input.shapeReadings
    warnings = [
      input.geometry.doubt, Self.sizeWarning(prepared), input.pixelWarning,
      Self.rangeWarning(input, of: prepared.model),
    ].compactMap(\.self)
    processor = try ImageProcessor(
      width: prepared.geometry.width, height: prepared.geometry.height, channels: input.channels,
      fit: fit, resampling: options.resampling)
    threads = options.interpreter.threadCount
    timeLimit = options.interpreter.timeLimit
    lastMoment = options.interpreter.deadline
    let geometry = prepared.geometry
    interpreters = InterpreterPool(
      prepared.interpreter, options: prepared.interpreterOptions,
      extraByteCount: Self.extraByteCount(of: prepared)
    ) { geometry.shape(batch: $0) }
  }

  /// A warning if pixels become numbers outside the range of the input, or of the operator that quantizes it;
  /// nil otherwise.
  private static func rangeWarning(_ input: ImageInput, of model: Model) -> String? {
    guard let normalization = input.normalization, let numbers = normalization.bounds else { return nil }
    let own = PixelRange(of: input.tensor)
    guard let range = own ?? PixelRange(firstIn: model), range.cuts(normalization) else { return nil }
    return
      "pixels of '\(normalization)' are \(numbers.lowerBound) to \(numbers.upperBound), but "
      + (own == nil ? "the graph begins with QUANTIZE of" : "the input stands for")
      + " \(range.text): what is beyond is cut off; --pixels says which pixels the model takes"
  }

  /// A warning if the exporter names a size other than the input's; nil otherwise.
  private static func sizeWarning(_ prepared: PreparedModel) -> String? {
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    guard let export = prepared.export, let size = export.imageSize, size != (height, width) else {
      return nil
    }
    return
      "\(export.fileName) says that pictures have \(size.width) × \(size.height) pixels, but the input has "
      + "\(width) × \(height)"
  }

  /// The bytes of what is computed as floats beside the interpreter: elements of the input of other types, and copies of outputs of other
  /// types.
  private static func extraByteCount(of prepared: PreparedModel) -> Int {
    // No overflow: the elements are limited, and so is the number of outputs.
    var byteCount = 0
    if let input = prepared.interpreter.inputs.first, ImageInput.isConverted(input.type) {
      byteCount += 12 * input.shape.elementCount
    } else if prepared.geometry.channelCount == 4 || prepared.geometry.fixedBatch > 1 {
      // The values before they are placed.
      byteCount += 4 * prepared.interpreter.inputs[0].shape.elementCount
    }
    for output in prepared.outputs where output.type != .float32 {
      byteCount += (4 + ([.int64, .float64].contains(output.type) ? 8 : 4)) * output.shape.elementCount
    }
    return byteCount
  }

  /// Runs the model on a picture, or on a region of it.
  ///
  /// - Parameters:
  ///   - previousMask: The mask of the picture before, for inputs with a channel for it, see ``ImageInput``.
  ///   - body: Turns the outputs into a result; its time counts as postprocessing.
  /// - Returns: The result, with the time of each stage.
  func run<Answer: TimedResult>(
    _ image: ImageBuffer, in region: PixelRect? = nil, previousMask: [UInt8]? = nil,
    cancellation: Cancellation? = nil,
    _ body: (ModelRun, Placement) throws(ApusError) -> Answer
  ) throws(ApusError) -> Answer {
    var (answer, timings) = try measure(
      image, in: region, previousMask: previousMask, cancellation: cancellation, body)
    answer.timings = timings
    return answer
  }

  /// Runs the model on a picture, or on a region of it, and measures the time of each stage.
  ///
  /// - Parameters:
  ///   - previousMask: The mask of the picture before, for inputs with a channel for it, see ``ImageInput``.
  ///   - body: Turns the outputs into a result; its time counts as postprocessing.
  func measure<Result>(
    _ image: ImageBuffer, in region: PixelRect? = nil, previousMask: [UInt8]? = nil,
    cancellation: Cancellation?,
    _ body: (ModelRun, Placement) throws(ApusError) -> Result
  ) throws(ApusError) -> (result: Result, timings: StageTimings) {
    let clock = ContinuousClock()
    let start = clock.now
    return try interpreters.withInterpreter(cancellation: cancellation) { interpreter throws(ApusError) in
      let preparing = Trace.now
      let transform = try input.write(
        image, in: region, by: processor, threads: threads, to: interpreter, previousMask: previousMask)
      let placement = try Placement(transform, of: image, region: region)
      Trace.record(.preprocess, since: preparing)
      let (ready, end) = (clock.now, deadline)
      try interpreter.invoke(cancellation: cancellation)
      let done = clock.now
      let answering = Trace.now
      let run = ModelRun(interpreter, of: input.geometry.fixedBatch, until: end)
      let result = try body(run, placement)
      Trace.record(.postprocess, since: answering)
      let timings = StageTimings(
        preprocess: ready - start, inference: done - ready,
        postprocess: clock.now - done)
      return (result, timings)
    }
  }

  /// When an answer must be there whose run, or what follows it, begins now.
  private var deadline: Moment? { lastMoment ?? timeLimit.map { .now + $0 } }

  /// Runs the model on several pictures: together if it is proved that each gets the bytes that it gets alone, otherwise one by one.
  ///
  /// The time of a common run is divided among its pictures.
  func run<Answer: TimedResult>(
    _ images: [ImageBuffer], cancellation: Cancellation? = nil,
    _ body: (ModelRun, Placement) throws(ApusError) -> Answer
  ) throws(ApusError) -> [Answer] {
    var answers: [Answer] = []
    var first = 0
    while first < images.count {
      let most = min(Self.maximumBatch, interpreters.maximumPictures)
      let part = images[first..<min(first + most, images.count)]
      first = part.endIndex
      if try joins(part.count, cancellation) {
        answers += try runTogether(part, cancellation, body)
      } else {
        for image in part { answers.append(try run(image, cancellation: cancellation, body)) }
      }
    }
    return answers
  }

  /// Whether `count` pictures provably may share a run.
  private func joins(_ count: Int, _ cancellation: Cancellation?) throws(ApusError) -> Bool {
    guard input.geometry.isBatchOpen, count > 1 else { return false }
    if let known = joins.withLock({ $0[count] }) { return known }
    let alone = try interpreters.withInterpreter(cancellation: cancellation) { $0.rows }
    var isProved = false
    if alone.reason == nil {
      do throws(ApusError) {
        let together = try interpreters.withInterpreter(batch: count, cancellation: cancellation) { $0.rows }
        isProved = together.reason(toDifferFrom: alone) == nil
      } catch {
        // A model that cannot take several pictures at once takes them one by one; nothing else is decided for good.
        guard error.code == .malformedModel || error.code == .unsupportedOperator else { throw error }
      }
    }
    joins.withLock { $0[count] = isProved }
    return isProved
  }

  private func runTogether<Answer: TimedResult>(
    _ images: ArraySlice<ImageBuffer>, _ cancellation: Cancellation?,
    _ body: (ModelRun, Placement) throws(ApusError) -> Answer
  ) throws(ApusError) -> [Answer] {
    let clock = ContinuousClock()
    let count = images.count
    return try interpreters.withInterpreter(batch: count, cancellation: cancellation) {
      interpreter throws(ApusError) in
      let start = clock.now
      let preparing = Trace.now
      var placements: [Placement] = []
      for (slot, image) in images.enumerated() {
        let transform = try input.write(
          image, in: nil, by: processor, threads: threads, to: interpreter, slot: slot, of: count)
        placements.append(try Placement(transform, of: image, region: nil))
      }
      Trace.record(.preprocess, since: preparing)
      let ready = clock.now
      try interpreter.invoke(cancellation: cancellation)
      let inference = (clock.now - ready) / count
      let preprocess = (ready - start) / count
      var answers: [Answer] = []
      for (slot, placement) in placements.enumerated() {
        let begin = clock.now
        let answering = Trace.now
        let run = ModelRun(interpreter, slot: slot, of: count, until: deadline)
        var answer = try body(run, placement)
        Trace.record(.postprocess, since: answering)
        answer.timings = StageTimings(
          preprocess: preprocess, inference: inference, postprocess: clock.now - begin)
        answers.append(answer)
      }
      return answers
    }
  }
}
