// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The meaning of a one-channel output's numbers as a mask: decided once, for the model.
struct MaskReading: Sendable {
  /// The form of the numbers.
  let form: ScoreForm
  /// Where the reading comes from.
  let source: AssumptionSource
  /// The evidence for the reading, in words.
  let reason: String
  /// The number that stands for certainty: 1, or 255 where the numbers are bytes.
  let one: Float
  /// A warning if the model contradicts the given reading; nil otherwise.
  let warning: String?

  /// The largest magnitude of a logit: beyond it, a sigmoid in single precision is 0 or 1.
  private static let largestLogit: Float = 88

  private init(
    _ form: ScoreForm, _ source: AssumptionSource, _ reason: String, one: Float = 1, warning: String? = nil
  ) {
    (self.form, self.source, self.reason, self.one, self.warning) = (form, source, reason, one, warning)
  }

  /// Reads an output with one number for each cell: by the options, else by what the last operators and the quantization say.
  ///
  /// - Throws: `invalidArgument` if the numbers cannot be those of a mask.
  init(of output: Int, in prepared: PreparedModel, given: ScoreForm?) throws(ApusError) {
    let bounds = try ValueBounds(ofOutput: output, of: prepared.model)
    if prepared.outputs[output].type == .bool {
      try self.init(ofTruths: prepared.outputs[output], given: given)
      return
    }
    if let given {
      try Self.checkLogits(given, bounds, prepared, output)
      let areBytes =
        given == .byte
        || given == .probability && (bounds.isNear(0, 255) || Self.hasPlainBytes(prepared.outputs[output]))
      self.init(
        given == .byte ? .probability : given, .given, "the options", one: areBytes ? 255 : 1,
        warning: prepared.scores(of: output, given: given, usual: .probability).warning)
      return
    }
    let origin = BoundsSearch(prepared.model, input: .unknown).origin(
      of: prepared.model.file.subgraphs[0].outputs[output])
    let name = origin?.schemaName
    if bounds.isProbability {
      self.init(.probability, .model, "the last operators and the quantization allow \(bounds)")
    } else if bounds.isNear(0, 255) {
      throw Self.refusal(
        prepared, output, "one number for each pixel, \(bounds), as a gray picture or a depth map has",
        "--scores byte says that it is a mask of 0 to 255 after all")
    } else if bounds.lower >= -0.01 {
      throw Self.refusal(prepared, output, "one number for each pixel, \(bounds), as a depth map has")
    } else if bounds.isNear(-1, 1) {
      throw Self.refusal(prepared, output, "one number for each pixel from -1 to 1, as a gray picture has")
    } else if let name, origin != .custom, bounds != .unknown || Self.isArithmetic(origin) {
      self.init(.logit, .model, "\(name) computes them, and neither LOGISTIC nor SOFTMAX follows")
    } else if bounds.lower < -0.5, bounds.upper > 0.5, bounds.upper.isFinite, bounds.lower.isFinite {
      self.init(.logit, .model, "the quantization allows \(bounds)")
    } else {
      self.init(.probability, .guess, "usual for masks")
    }
  }

  /// Reads an output that says for each cell whether something is there.
  private init(ofTruths tensor: Tensor, given: ScoreForm?) throws(ApusError) {
    guard given == nil || given == .probability else {
      throw ApusError(
        .invalidArgument,
        "scores are given as \(given?.rawValue ?? ""), but the output \(tensor) is true or false for each pixel, which are the probabilities 1 and 0"
      )
    }
    self.init(.probability, .model, "true is 1, and false is 0")
  }

  /// Refuses an output that says for each class and cell whether it is there: none has to be, or only one.
  static func refuseTruths(_ prepared: PreparedModel, _ grid: ImageSegmenter.Grid) throws(ApusError) {
    let tensor = prepared.outputs[grid.output]
    guard tensor.type == .bool else { return }
    throw ApusError(
      .invalidArgument,
      "the output \(tensor) is true or false for each of \(grid.channels.count) classes, of which a pixel may have several or none, not a "
        + "score for each; 'apus run' or an interpreter gives it")
  }

  /// Refuses logits where the model's own numbers are never negative and go beyond 1: by the sign of a logit, everything would be there.
  private static func checkLogits(
    _ given: ScoreForm, _ bounds: ValueBounds, _ prepared: PreparedModel, _ output: Int
  ) throws(ApusError) {
    guard given == .logit, bounds.lower >= 0, !bounds.isProbability else { return }
    let areBytes = bounds.isNear(0, 255) || hasPlainBytes(prepared.outputs[output])
    throw ApusError(
      .invalidArgument,
      "the output \(prepared.outputs[output]) has numbers that are \(bounds), but of logits some are negative: "
        + (areBytes
          ? "--scores byte reads a mask of 0 to 255"
          : "--scores probability reads a mask of 0 to 1, and 'apus transform' gives depths and pictures"))
  }

  /// Whether an operator computes any real numbers.
  private static func isArithmetic(_ code: OperatorCode?) -> Bool {
    switch code {
    case .conv2D, .depthwiseConv2D, .transposeConv, .fullyConnected, .batchMatMul, .add, .addN, .sub, .mul,
      .div, .sum,
      .mean, .prelu, .leakyRelu, .elu, .concatenation, .pack, .log, .maximum, .minimum, .neg:
      true
    default: false
    }
  }

  /// Whether an output has bytes without a scale: classes, or a mask of 0 to 255.
  static func hasPlainBytes(_ tensor: Tensor) -> Bool { tensor.type == .uint8 && tensor.quantization == nil }

  private static func refusal(
    _ prepared: PreparedModel, _ output: Int, _ what: String,
    _ remedy: String = "--scores says that it is a mask after all"
  ) -> ApusError {
    ApusError(
      .invalidArgument,
      """
      the output \(prepared.outputs[output]) has \(what): no mask; 'apus transform' (PictureTransformer) gives it as a \
      picture, and \(remedy)
      """)
  }

  /// The number above which a pixel belongs to what is there.
  var threshold: Float { form == .logit ? 0 : 0.5 * one }

  /// The reading for people.
  var assumption: Assumption {
    Assumption(
      "scores", form.rawValue + (one == 1 ? "" : ", times \(Int(one))"), source, reason: reason,
      option: "--scores")
  }

  /// Holds the numbers of an answer against the reading, and returns the least of them.
  ///
  /// - Throws: `invalidData` for numbers that it cannot have.
  func check(_ values: Span<Float>) throws(ApusError) -> Float {
    var (low, high) = (Float.infinity, -Float.infinity)
    for index in 0..<values.count {
      let value = values[index]
      low = min(low, value)
      high = max(high, value)
    }
    func contradiction(_ text: String) -> ApusError {
      ApusError(
        .invalidData,
        "the mask has numbers from \(low) to \(high), read as \(form.rawValue) (\(reason)): \(text)")
    }
    switch form {
    case .probability where low < -0.01 * one || high > 1.01 * one:
      let areBytes = one == 1 && low >= -0.01 && high <= 256
      throw contradiction(
        (areBytes ? "if they are a mask of 0 to 255, --scores byte says so; " : "")
          + "if they are logits, --scores logit says so; if they are no mask, use 'apus transform'")
    case .probability where one != 1 && high <= 1 && values.hasFraction:
      throw contradiction("if they are probabilities, --scores probability says so")
    case .logit where low >= 0 && high <= 1 && high > 0:
      throw contradiction("if they are probabilities, --scores probability says so")
    case .logit where source != .given && low >= 0 && high > 0 && !values.hasFraction:
      throw contradiction(
        "whole numbers of which none is negative are classes, which --labels with three names or more says, or a depth or a picture, which "
          + "'apus transform' gives")
    case .logit where low >= 0 && high > Self.largestLogit && high <= 256:
      throw contradiction(
        "of logits some are negative; if they are a mask of 0 to 255, --scores byte says so; if they are depths or a picture, "
          + "use 'apus transform'")
    // Large logits of both signs are those of a mask where the caller says so.
    case .logit where max(high, -low) > Self.largestLogit && (source != .given || low >= 0):
      throw contradiction("these are no logits; if they are depths or a picture, use 'apus transform'")
    default: return low
    }
  }

  // MARK: Pictures

  /// Refuses an output that is more likely a picture than a mask.
  ///
  /// - Parameters:
  ///   - grid: The output.
  ///   - isNamed: Whether labels or metadata say that there are classes.
  static func refusePicture(
    _ prepared: PreparedModel, _ grid: ImageSegmenter.Grid, isNamed: Bool
  ) throws(ApusError) {
    let (output, count, width, height) = (grid.output, grid.channels.count, grid.width, grid.height)
    guard !isNamed, count <= 4 else { return }
    let geometry = prepared.geometry
    func refuse(_ why: String) -> ApusError {
      ApusError(
        .invalidArgument,
        """
        the output \(prepared.outputs[output]) \(why): more likely a picture than a mask; 'apus transform' \
        (PictureTransformer) gives pictures, and --labels with \(count == 1 ? "a name" : "\(count) names") says that it is a mask
        """)
    }
    if width > geometry.width, height > geometry.height {
      throw refuse("is larger than the input of \(geometry.width) × \(geometry.height)")
    }
    let tensor = prepared.model.file.subgraphs[0].outputs[output]
    let origin = BoundsSearch(prepared.model, input: .unknown).origin(of: tensor)
    if count == 3, origin != .softmax {
      throw refuse("has three channels, no labels, and no SOFTMAX that computes it")
    }
  }
}

extension Span<Float> {
  /// Whether one of the numbers is no whole number.
  var hasFraction: Bool {
    for index in indices where self[index] != self[index].rounded() { return true }
    return false
  }
}
