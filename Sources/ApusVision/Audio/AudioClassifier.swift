// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusRuntime
import Synchronization

/// Classifies sounds over time, with models that take a waveform and score classes, such as YAMNet.
///
/// ```swift
/// let classifier = try AudioClassifier(modelFile: "yamnet.tflite")
/// for window in try classifier.classify(AudioClip(contentsOfFile: "street.wav")).windows {
///   show(window.start, window.categories.prefix(3))
/// }
/// ```
///
/// A clip is mixed to one channel, resampled to the model's rate, and cut into windows as long as the model's input. The last
/// window is filled up with silence. Any number of threads can share a classifier.
public final class AudioClassifier: Sendable {
  /// How to classify.
  public struct Options: CategoryOptions, Sendable {
    /// Which classes to report, and how to name them.
    public var resultOptions = ResultOptions()
    /// The share of a window that the next one repeats: at least 0 and less than 1.
    public var overlap = 0.0
    /// The model's sample rate in hertz; nil for that of its metadata, or else 16,000.
    public var sampleRate: Int?
    /// The number of samples in a window; required if the model leaves it open.
    public var windowSampleCount: Int?
    /// The numbers by which the model takes samples; nil for what its type, quantization or first operators say, or else −1 to 1.
    public var sampleRange: SampleRange?
    /// The form of the model's scores; nil for the form that the file shows, or else the usual one.
    public var scores: ScoreForm?
    /// How to run the model: threads, kernels, limits.
    public var interpreter = Interpreter.Options()

    /// Makes the default options.
    public init() {}
  }

  /// The options, as given.
  public let options: Options
  /// The model's sample rate in hertz.
  public let sampleRate: Int
  /// The number of samples in a window.
  public let windowSampleCount: Int
  /// How the model is read, and what says so: the sample rate, the range of samples, the outputs and the labels.
  public var readings: [Assumption] {
    [rateReading, input.samples.assumption] + (rateInputReading.map { [$0] } ?? []) + heads.readings
      + (heads.labels?.readings ?? [LabelSource.nothing(unread: unreadLabels)])
  }
  /// Warnings about the model, including those from its answers so far; usually empty.
  public var warnings: [String] {
    (lengthWarning.map { [$0] } ?? []) + rateInputWarnings + heads.warnings + loudWarnings
      + (heads.labels?.warnings ?? LabelSource.warnings(ofUnread: unreadLabels))
  }

  /// The most classes that the windows of an answer name together.
  private static let maximumCategories = 1 << 24

  /// Whether a clip had samples far beyond −1 to 1.
  private let isLoud = Mutex(false)
  /// Samples of sounds that are mixed too loud may go beyond 1, but not as far as this.
  private static let maximumSample: Float = 8

  private var loudWarnings: [String] {
    guard isLoud.withLock({ $0 }) else { return [] }
    return [
      "the samples of a sound go beyond ±\(Int(Self.maximumSample)), not −1 to 1: floats that were made of integers must be divided, "
        + "of 16 bits by 32768, of 32 bits by 2147483648"
    ]
  }

  private var rateInputWarnings: [String] {
    guard let reading = rateInputReading, reading.source == .guess else { return [] }
    return [
      "\(reading.subject) is taken for the sample rate, \(sampleRate), which is a guess: \(reading.reason); 'apus run' gives it another number"
    ]
  }

  private let rateReading: Assumption
  private let rateInputReading: Assumption?
  private let unreadLabels: String?
  private let lengthWarning: String?
  private let input: WaveformInput
  private let heads: ClassificationHeads
  private let hop: Int
  private let interpreters: InterpreterPool

  /// Makes a classifier.
  ///
  /// - Parameters:
  ///   - model: The model: one channel of a waveform in (N numbers, where all dimensions but one are 1), and perhaps the
  ///     sample rate as a number; one score for each class out.
  ///   - labels: The names of the classes; nil for the labels inside the model.
  ///   - options: How to classify.
  /// - Throws: `invalidArgument` if the options contradict each other or the model is not such a classifier; errors of
  ///   `Apus.Interpreter`.
  public init(model: Model, labels: LabelMap? = nil, options: Options = Options()) throws(ApusError) {
    try options.resultOptions.check()
    guard options.overlap >= 0, options.overlap < 1 else {
      throw ApusError(.invalidArgument, "the overlap of windows is \(options.overlap), not from 0 to below 1")
    }
    self.options = options
    let prepared = try PreparedWaveformModel(model, options: options)
    input = prepared.input
    heads = try ClassificationHeads(
      of: prepared, labels: labels, scores: options.scores, options: options.resultOptions)
    guard heads.labels != nil || heads.count > 1 || heads.classCount != prepared.input.sampleCount else {
      throw ApusError(
        .invalidArgument,
        "the model returns \(heads.classCount) numbers for as many samples: no classes of the sound, but another sound"
      )
    }
    rateReading = prepared.rateReading
    rateInputReading = prepared.rateInputReading
    unreadLabels = heads.labels == nil ? LabelSource.unread(of: model) : nil
    lengthWarning = prepared.lengthWarning
    sampleRate = prepared.sampleRate
    windowSampleCount = prepared.input.sampleCount
    hop = max(Int((Double(prepared.input.sampleCount) * (1 - options.overlap)).rounded()), 1)
    let shape = prepared.interpreter.inputs[0].shape
    interpreters = InterpreterPool(prepared.interpreter, options: prepared.interpreterOptions) { _ in shape }
  }

  /// Makes a classifier from files. Without `labelsFile`, the labels are those inside the model.
  ///
  /// - Throws: `unreadableFile`, `malformedModel`, `malformedLabels`, or what the other initializer throws.
  public convenience init(
    modelFile: String, labelsFile: String? = nil, options: Options = Options()
  ) throws(ApusError) {
    try self.init(
      model: Model(contentsOfFile: modelFile), labels: LabelMap(ofFile: labelsFile), options: options)
  }

  /// The names of the classes; nil if neither the caller nor the model has any.
  public var labels: LabelMap? { heads.labels?.map }

  /// How many classes the first head has.
  package var classCount: Int { heads.classCount }

  /// How many heads the model has: outputs with scores of classes.
  package var headCount: Int { heads.count }

  /// Whether the next answer may decide how all later ones are read. Several at once would decide by chance.
  package var isUndecided: Bool { heads.isUndecided }

  // MARK: Classifying

  /// Classifies a sound, window by window and as a whole.
  ///
  /// - Parameters:
  ///   - clip: The sound, of any rate and number of channels.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a clip without samples; `invalidData` if an operator refuses a value;
  ///   `resourceLimit` if a run takes more than the options of `interpreter` allow, or the windows name more than 16,777,216 classes.
  public func classify(
    _ clip: AudioClip, cancellation: Cancellation? = nil
  ) throws(ApusError) -> AudioClassificationResult {
    try classify(clip, cancellation: cancellation) { () throws(ApusError) in }
  }

  /// As ``classify(_:cancellation:)``.
  ///
  /// - Parameter checkTime: Throws to end before the next window, such as where a limit on the whole sound is over.
  package func classify(
    _ clip: AudioClip, cancellation: Cancellation? = nil, checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> AudioClassificationResult {
    guard clip.frameCount > 0 else { throw ApusError(.invalidArgument, "the clip has no samples") }
    let clock = ContinuousClock()
    let start = clock.now
    let sound = MonoSound(clip, sampleRate: sampleRate)
    // Every sample is in a window, and the last one is the first that reaches the end. No overflow: both factors are small.
    let count = (max(sound.count - windowSampleCount, 0) + hop - 1) / hop + 1
    guard count * max(heads.categoryCount, 1) <= Self.maximumCategories else {
      throw ApusError(
        .resourceLimit,
        "\(count) windows of \(heads.categoryCount) classes are more than \(Self.maximumCategories); choose maxResults"
      )
    }
    var timings = StageTimings(preprocess: clock.now - start)
    var windows: [AudioClassificationResult.Window] = []
    var sums: [[Double]] = []
    // How many samples the sums count: the last window may be mostly silence.
    var weight = 0
    // The window, whose samples from the one before are not computed again.
    var samples: [Float] = []
    try interpreters.withInterpreter(cancellation: cancellation) { interpreter throws(ApusError) in
      for begin in stride(from: 0, to: count * hop, by: hop) {
        try checkTime()
        let beginning = clock.now
        let preparing = Trace.now
        if begin > 0 { samples.removeFirst(hop) }
        let more = sound.samples(begin + samples.count..<min(begin + windowSampleCount, sound.count))
        samples += more
        if more.contains(where: { abs($0) > Self.maximumSample }) { isLoud.withLock { $0 = true } }
        try input.write(samples, to: interpreter)
        Trace.record(.preprocess, since: preparing)
        let ready = clock.now
        try interpreter.invoke(cancellation: cancellation)
        let done = clock.now
        let answering = Trace.now
        // The mean is that of the scores that windows show: calibration is not linear.
        let scores = heads.calibrated(try heads.scores(of: ModelRun(interpreter)))
        if sums.isEmpty { sums = scores.map { $0.map { _ in 0 } } }
        let sampleCount = max(samples.count, 1)
        weight += sampleCount
        guard zip(sums, scores).allSatisfy({ $0.count == $1.count }) else {
          throw ApusError(.invalidData, "the outputs have another shape than for the window before")
        }
        for (head, values) in scores.enumerated() {
          // A float times a number of samples is exact.
          for (index, value) in values.enumerated() {
            sums[head][index] += Double(value) * Double(sampleCount)
          }
        }
        windows.append(
          AudioClassificationResult.Window(
            start: .seconds(Double(begin) / Double(sampleRate)),
            classifications: heads.classifications(ofCalibrated: scores)))
        Trace.record(.postprocess, since: answering)
        timings.preprocess += ready - beginning
        timings.inference += done - ready
        timings.postprocess += clock.now - done
      }
    }
    let means = sums.map { $0.map { Float($0 / Double(weight)) } }
    return AudioClassificationResult(
      duration: clip.duration, windowDuration: .seconds(Double(windowSampleCount) / Double(sampleRate)),
      windows: windows, means: heads.classifications(ofCalibrated: means), timings: timings)
  }

  /// Classifies a sound away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  @concurrent
  public func classify(_ clip: AudioClip) async throws -> AudioClassificationResult {
    try await cancellable { cancellation throws(ApusError) in
      try self.classify(clip, cancellation: cancellation)
    }
  }
}
