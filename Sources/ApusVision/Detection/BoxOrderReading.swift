// SPDX-License-Identifier: Apache-2.0
import Apus

/// How the boxes of a model with suppression inside are written, and what says so. Where nothing does, that depends on their unit.
struct BoxOrderReading: Sendable {
  /// The form of boxes in one unit, with its evidence.
  private struct Reading: Sendable {
    let form: BoxForm
    let source: AssumptionSource
    let reason: String
    /// Whether the other order is about as likely.
    var isOpen = false
  }

  /// Where outputs with such names come from.
  enum Origin {
    case tensorFlow, yolo, pyTorch, mmDetection
  }

  private let fractions: Reading
  private let pixels: Reading
  /// Where the names of outputs come from; nil for the operator, and where they do not tell.
  let origin: Origin?

  /// Words in names of outputs that exports of YOLO models from PyTorch have, whose boxes begin at the left.
  private static let wordsOfYOLO = [
    "num_dets", "num_predictions", "det_boxes", "det_scores", "det_classes", "pred_boxes", "pred_scores",
    "pred_classes",
  ]
  /// Words in names of boxes that TensorFlow's exports and its metadata have, whose boxes begin at the top.
  private static let wordsOfTensorFlow = ["detection", "location"]

  /// Where the names of outputs come from; nil if they do not tell. The name of the boxes says more than those of others.
  private static func origin(of prepared: PreparedModel, _ rows: DetectionLayout) -> Origin? {
    func isNamed(_ output: Int, _ words: [String]) -> Bool {
      words.contains { word in prepared.names(of: output).contains { $0.contains(word) } }
    }
    if rows.hasScoresInBoxes { return .mmDetection }
    if isNamed(rows.outputs.boxes, wordsOfYOLO) { return .yolo }
    if isNamed(rows.outputs.boxes, wordsOfTensorFlow) { return .tensorFlow }
    if prepared.outputs.indices.contains(where: { isNamed($0, wordsOfYOLO) }) { return .yolo }
    let areLabels = prepared.outputs.indices.contains { isNamed($0, ["label"]) }
    return areLabels ? .pyTorch : nil
  }

  /// Reads what the options, the operator, the metadata or names say; else what is usual.
  ///
  /// - Throws: `invalidArgument` if the metadata or the options say of boxes what cannot be.
  init(_ prepared: PreparedModel, _ rows: DetectionLayout, given: BoxOrder?) throws(ApusError) {
    let properties = prepared.description(of: rows.outputs.boxes)?.boundingBoxProperties
    let described = try BoxForm(properties, isOfOperator: rows.isOfOperator)
    let origin = rows.isOfOperator ? nil : Self.origin(of: prepared, rows)
    if let given {
      let form = BoxForm(given)
      guard !rows.isOfOperator || form == described || form == .topLeftBottomRight else {
        throw ApusError(
          .invalidArgument,
          """
          the box order is given as \(given.rawValue), but a model of this kind has no other than \
          \(described.names.joined(separator: ", ")): \(rows.reason)
          """)
      }
      self.init(origin, Reading(form: form, source: .given, reason: "the options"))
    } else if rows.isOfOperator {
      self.init(origin, Reading(form: described, source: .model, reason: rows.reason))
    } else if properties != nil {
      self.init(origin, Reading(form: described, source: .model, reason: "the metadata's order of a box"))
    } else if origin == .mmDetection {
      self.init(
        origin,
        Reading(
          form: .leftTopRightBottom, source: .guess, reason: "usual for boxes with their scores behind them"))
    } else if origin == .tensorFlow {
      let name = prepared.name(of: rows.outputs.boxes)
      self.init(
        origin,
        Reading(
          form: .topLeftBottomRight, source: .model, reason: "boxes of TensorFlow, as the name '\(name)' says"
        ),
        pixels: Reading(
          form: .topLeftBottomRight, source: .guess,
          reason: "usual for boxes called '\(name)', but TensorFlow's are fractions"))
    } else if origin != nil {
      self.init(
        origin,
        Reading(
          form: .leftTopRightBottom, source: .guess,
          reason: "usual for outputs with such names, as PyTorch's exports have them"))
    } else if let count = rows.outputs.count {
      let outputs = rows.outputs
      let isLeftFirst = [count, outputs.boxes, outputs.scores, outputs.classes] == [0, 1, 2, 3]
      self.init(
        origin,
        Reading(
          form: .topLeftBottomRight, source: .guess, reason: "usual for boxes in fractions with a count"),
        pixels: isLeftFirst
          ? Reading(
            form: .leftTopRightBottom, source: .guess,
            reason: "usual for a count, boxes in pixels, scores and classes, as YOLO's exports have them")
          : Reading(
            form: .topLeftBottomRight, source: .guess, reason: "usual for boxes with a count", isOpen: true))
    } else {
      self.init(
        origin,
        Reading(
          form: .topLeftBottomRight, source: .guess, reason: "usual for boxes in fractions without a count"),
        pixels: Reading(
          form: .leftTopRightBottom, source: .guess, reason: "usual for boxes in pixels without a count"))
    }
  }

  private init(_ origin: Origin?, _ fractions: Reading, pixels: Reading? = nil) {
    (self.origin, self.fractions, self.pixels) = (origin, fractions, pixels ?? fractions)
  }

  private func reading(_ units: BoxUnits) -> Reading { units == .pixel ? pixels : fractions }

  /// How boxes in a unit are written.
  func form(_ units: BoxUnits) -> BoxForm { reading(units).form }

  /// Whether nothing says how boxes in a unit are written.
  func isGuess(_ units: BoxUnits) -> Bool { reading(units).source == .guess }

  /// A warning about boxes in a unit whose order nothing indicates; nil for others.
  func warning(_ units: BoxUnits) -> String? {
    let reading = reading(units)
    guard reading.isOpen else { return nil }
    return "boxes are taken for \(reading.form.names.joined(separator: ", ")), a guess: nothing in the model "
      + "says it; --box-order ltrb is the other usual order"
  }

  /// Whether boxes in pixels are written the other way round.
  var isTurnedInPixels: Bool { pixels.form != fractions.form }

  /// The reading of boxes in a unit.
  func assumption(_ units: BoxUnits) -> Assumption {
    let reading = reading(units)
    return Assumption(
      "box order", reading.form.names.joined(separator: ", "), reading.source, reason: reading.reason,
      option: "--box-order")
  }
}
