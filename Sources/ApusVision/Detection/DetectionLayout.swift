// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat

/// Where a model's detections are, and how sure that is.
///
/// Looked for in this order; the first that fits the shapes is taken:
///
/// 1. The outputs of the operator `TFLite_Detection_PostProcess`, whatever they are called and however the model
///    orders them.
/// 2. The names that the metadata gives to the outputs: `location`, `category`, `score`, `number of detections`.
/// 3. The names of a signature's outputs, then those of the tensors: `detection_boxes`, `num_detections` and the like,
///    and `TFLite_Detection_PostProcess`, `…:1`, `…:2`, `…:3`.
/// 4. The tensors `StatefulPartitionedCall:0` … `:3` of TensorFlow 2: count, scores, classes, boxes, or, where the
///    shapes say so, boxes first and a count last.
/// 5. The shapes of all outputs of TensorFlow's detection API, where converters number them in alphabetical order.
/// 6. The shapes: boxes have four columns, a count is one number. Of the other two, integers are classes; between floats, their values
///    decide, run by run: see ``DetectionRows``. Where these leave it open, classes come before scores if
///    boxes are the first output, and after them otherwise; converters of TensorFlow 1 and 2 do so.
struct DetectionLayout: Hashable, Sendable {
  /// The positions.
  let outputs: DetectionOutputs
  /// Rows for each object that the count counts: `max_classes_per_detection` of the fast non-maximum suppression.
  let rowsPerObject: Int
  /// Whether values have to tell classes from scores.
  let isAmbiguous: Bool
  /// Where the positions come from.
  let source: AssumptionSource
  /// The evidence for the positions, in words.
  let reason: String
  /// The tensor whose scores the operator `TFLite_Detection_PostProcess` sorts; nil without the operator.
  let operatorScores: Int?

  /// The output with the scores of all classes of TensorFlow's detection API, told by its shape alone; nil for others.
  let allScores: Int?

  /// Whether each box is followed by its score in the same output.
  var hasScoresInBoxes: Bool { outputs.boxes == outputs.scores }

  /// Whether the operator `TFLite_Detection_PostProcess` computes them.
  var isOfOperator: Bool { operatorScores != nil }

  /// The most signatures whose names are looked at: each has one for every output.
  static let maximumSignatures = 64

  /// How many classes the operator knows, the background left out; nil without the operator.
  let classCount: Int?

  private init(
    _ outputs: DetectionOutputs, _ source: AssumptionSource, _ reason: String, rowsPerObject: Int = 1,
    isAmbiguous: Bool = false, operatorScores: Int? = nil, classCount: Int? = nil, allScores: Int? = nil
  ) {
    self.outputs = outputs
    self.source = source
    self.reason = reason
    self.rowsPerObject = rowsPerObject
    self.isAmbiguous = isAmbiguous
    self.operatorScores = operatorScores
    self.classCount = classCount
    self.allScores = allScores
  }

  /// Finds the detections among a model's outputs.
  ///
  /// - Parameters:
  ///   - shapes: The shapes of the outputs as prepared, in the model's order.
  ///   - openRows: The outputs with as many rows as a picture has objects.
  ///   - chosen: What the caller knows better.
  init(
    of model: Model, shapes: [TensorShape], openRows: [Int], metadata: ModelMetadata?,
    chosen: DetectionOutputs?
  ) throws(ApusError) {
    let ofOperator = Self.operatorLayout(of: model)
    if let chosen {
      let positions = chosen.positions
      guard Set(positions).count == positions.count, positions.allSatisfy(shapes.indices.contains) else {
        throw ApusError(
          .invalidArgument,
          "the outputs \(positions) are chosen for detections, but the model has \(shapes.count) outputs")
      }
      let isOfOperator = Set(ofOperator?.outputs.positions ?? []) == Set(positions)
      self.init(
        chosen, .given, "the options", rowsPerObject: isOfOperator ? ofOperator?.rowsPerObject ?? 1 : 1,
        operatorScores: isOfOperator ? ofOperator?.operatorScores : nil,
        classCount: isOfOperator ? ofOperator?.classCount : nil)
      return
    }
    if let ofOperator {
      self = ofOperator
      return
    }
    let outputs = model.outputs
    var candidates = [(Self.named(metadata?.outputs.map(\.name) ?? []), "the metadata's names of outputs")]
    for signature in model.signatures.lazy.filter({ $0.subgraph == 0 }).prefix(Self.maximumSignatures) {
      var known: [Int: String] = [:]
      for output in signature.outputs where known[output.tensor.index] == nil {
        known[output.tensor.index] = output.name
      }
      candidates.append(
        (Self.named(outputs.map { known[$0.index] ?? "" }), "the signature's names of outputs"))
    }
    let names = outputs.map(\.name)
    candidates.append((Self.named(names), "the names of tensors"))
    candidates.append((Self.reversed(names), "the order of TensorFlow's exports"))
    for case (let found?, let reason) in candidates where Self.fits(found, shapes) {
      self.init(found, .model, reason)
      return
    }
    if let found = Self.numbered(names), Self.fits(found, shapes) {
      let typed = Self.typed(found, outputs)
      self.init(
        typed ?? found, .guess, "the order of TensorFlow's functions", isAmbiguous: typed == nil)
      return
    }
    if let (found, allScores) = Self.alphabetical(names, shapes) {
      self.init(
        found, .model, "the shapes of TensorFlow's detection API, in the alphabetical order of its names",
        allScores: allScores)
      return
    }
    if let found = Self.shaped(shapes) {
      let typed = Self.typed(found, outputs)
      let reason = typed == nil ? "the shapes of the outputs" : "the shapes and types of the outputs"
      self.init(typed ?? found, .guess, reason, isAmbiguous: typed == nil)
    } else if let found = Self.scored(outputs, shapes, openRows) {
      self.init(found, .guess, "five numbers a row, and a class for each: corners and a score")
    } else {
      let found = zip(names, shapes).map { "\($0) \($1)" }.joined(separator: ", ")
      throw ApusError(
        .invalidArgument,
        "the model's outputs are not boxes 1×N×4, classes 1×N, scores 1×N and a count, but: \(found)"
      )
    }
  }

  // MARK: The operator

  /// Whether the operator `TFLite_Detection_PostProcess` gives the outputs of a model.
  static func isOfOperator(_ model: Model) -> Bool { operatorLayout(of: model) != nil }

  private static func operatorLayout(of model: Model) -> DetectionLayout? {
    let subgraph = model.file.subgraphs[0]
    for node in subgraph.operators.reversed() where node.outputs.count == 4 && node.inputs.count > 1 {
      guard model.file.operatorCodes[node.operatorCode].name == "TFLite_Detection_PostProcess" else {
        continue
      }
      let positions = node.outputs.map { tensor in subgraph.outputs.firstIndex(of: tensor) }
      guard let boxes = positions[0], let classes = positions[1], let scores = positions[2],
        let count = positions[3]
      else { continue }
      let options = node.customOptions.flatMap { try? FlexBufferMap(model.file.bytes, $0) }
      // Regular suppression returns one row for each object, whatever this option says.
      let isFast = !(options?.bool("use_regular_nms") ?? false)
      let rows = options?.int64("max_classes_per_detection", default: 1) ?? 1
      return DetectionLayout(
        DetectionOutputs(boxes: boxes, classes: classes, scores: scores, count: count), .model,
        "the operator TFLite_Detection_PostProcess", rowsPerObject: isFast ? Int(clamping: max(rows, 1)) : 1,
        operatorScores: node.inputs[1],
        classCount: (options?.int64("num_classes", default: 0)).flatMap { $0 > 0 ? Int(clamping: $0) : nil })
    }
    return nil
  }

  // MARK: Names

  private enum Role: CaseIterable {
    case boxes, classes, scores, count
  }

  /// The role that a name suggests; nil for none, or for another output of a detector.
  private static func role(of name: String) -> Role? {
    let name = name.lowercased()
    if let operatorName = name.firstRange(of: "tflite_detection_postprocess") {
      switch name[operatorName.upperBound...] {
      case "", ":0": return .boxes
      case ":1": return .classes
      case ":2": return .scores
      case ":3": return .count
      default: return nil
      }
    }
    if ["raw", "multiclass", "anchor", "keypoint", "mask"].contains(where: name.contains) { return nil }
    if name.contains("num") || name.contains("count") { return .count }
    if name.contains("box") || name.contains("location") { return .boxes }
    if name.contains("score") { return .scores }
    return ["class", "categor", "label"].contains(where: name.contains) ? .classes : nil
  }

  private static func named(_ names: [String]) -> DetectionOutputs? {
    var positions: [Role: Int] = [:]
    for (position, name) in names.enumerated() {
      guard let role = role(of: name) else { continue }
      guard positions.updateValue(position, forKey: role) == nil else { return nil }
    }
    guard let boxes = positions[.boxes], let classes = positions[.classes], let scores = positions[.scores]
    else { return nil }
    return DetectionOutputs(boxes: boxes, classes: classes, scores: scores, count: positions[.count])
  }

  /// The number of an output that TensorFlow's converters number: `StatefulPartitionedCall:2`, `Identity_2`.
  private static func number(_ name: String) -> Int? {
    for (prefix, mark) in [("StatefulPartitionedCall", ":"), ("PartitionedCall", ":"), ("Identity", "_")]
    where name.hasPrefix(prefix) {
      let rest = name.dropFirst(prefix.count)
      return rest.isEmpty ? 0 : rest.hasPrefix(mark) ? Int(rest.dropFirst()) : nil
    }
    return nil
  }

  /// The order of the exporter for TensorFlow Lite: count, scores, classes, boxes.
  private static func reversed(_ names: [String]) -> DetectionOutputs? {
    let numbers = names.map { $0.hasPrefix("StatefulPartitionedCall") ? number($0) : nil }
    guard names.count == 4, let zero = numbers.firstIndex(of: 0), let one = numbers.firstIndex(of: 1),
      let two = numbers.firstIndex(of: 2), let three = numbers.firstIndex(of: 3)
    else { return nil }
    return DetectionOutputs(boxes: three, classes: two, scores: one, count: zero)
  }

  /// Boxes first and a count last, as functions of one's own return them; whether classes or scores come second is open.
  private static func numbered(_ names: [String]) -> DetectionOutputs? {
    reversed(names).map {
      DetectionOutputs(boxes: $0.count ?? 0, classes: $0.scores, scores: $0.classes, count: $0.boxes)
    }
  }

  /// The results of TensorFlow's detection API beside others, whose names are lost but for their alphabetical order: the eight outputs of
  /// most models, and the six of CenterNet with keypoints. Also the output with the scores of all classes.
  private static func alphabetical(_ names: [String], _ shapes: [TensorShape]) -> (DetectionOutputs, Int?)? {
    let numbers = names.map(number)
    var order: [Int] = []
    for place in names.indices {
      guard let output = numbers.firstIndex(of: place) else { return nil }
      order.append(output)
    }
    let found = order.map { shapes[$0].dimensions }
    guard found.count == 8 || found.count == 6 else { return nil }
    // Both begin with one number a row, or with boxes.
    let isKeypoints = found.count == 6
    let rows = found[isKeypoints ? 1 : 0].reduce(1, *)
    func isRow(_ place: Int) -> Bool { found[place].reduce(1, *) == rows && found[place].last == rows }
    func areRows(_ place: Int) -> Bool { found[place].count == 3 && found[place][1] == rows }
    func isCount(_ place: Int) -> Bool { found[place].reduce(1, *) == 1 }
    if isKeypoints {
      guard rows > 1, areRows(0), found[0][2] == 4, isRow(1), areRows(2), isRow(4), isCount(5),
        found[3] == found[2] + [2]
      else { return nil }
      return (DetectionOutputs(boxes: order[0], classes: order[1], scores: order[4], count: order[5]), nil)
    }
    guard rows > 1, isRow(0), areRows(1), found[1][2] == 4, isRow(2), areRows(3), isRow(4), isCount(5),
      found[6].count == 3, found[6][2] == 4, found[7] == [1, found[6][1], found[3][2]]
    else { return nil }
    return (
      DetectionOutputs(boxes: order[1], classes: order[2], scores: order[4], count: order[5]), order[3]
    )
  }

  // MARK: Shapes

  private static func fits(_ outputs: DetectionOutputs, _ shapes: [TensorShape]) -> Bool {
    guard outputs.positions.allSatisfy(shapes.indices.contains) else { return false }
    let boxes = shapes[outputs.boxes]
    let rows = shapes[outputs.classes].elementCount
    guard boxes.dimensions.last == 4, boxes.elementCount / 4 == rows,
      shapes[outputs.scores].elementCount == rows
    else { return false }
    return outputs.count.map { shapes[$0].elementCount == 1 } ?? true
  }

  /// The outputs with classes and scores in the places that their types say: only classes are whole numbers of 32 or 64 bits; nil if both or
  /// none are.
  private static func typed(_ found: DetectionOutputs, _ outputs: [Tensor]) -> DetectionOutputs? {
    func isWhole(_ output: Int) -> Bool { [.int32, .int64].contains(outputs[output].type) }
    guard isWhole(found.classes) != isWhole(found.scores) else { return nil }
    return isWhole(found.classes)
      ? found
      : DetectionOutputs(
        boxes: found.boxes, classes: found.scores, scores: found.classes, count: found.count)
  }

  /// Boxes `1×N×5` with their scores, and classes `1×N`, as exports of MMDetection have them.
  private static func scored(_ outputs: [Tensor], _ shapes: [TensorShape], _ openRows: [Int])
    -> DetectionOutputs?
  {
    guard shapes.count == 2 else { return nil }
    for (boxes, classes) in [(0, 1), (1, 0)] {
      let rows = shapes[boxes].elementCount / 5
      let isNamed = role(of: outputs[classes].name) == .classes
      guard shapes[boxes].rank >= 2, shapes[boxes].dimensions.last == 5,
        (2...maximumScoredRows).contains(rows) || openRows.contains(boxes),
        shapes[classes].elementCount == rows,
        isNamed || [.int32, .int64].contains(outputs[classes].type)
      else { continue }
      return DetectionOutputs(boxes: boxes, classes: classes, scores: boxes, count: nil)
    }
    return nil
  }

  /// More rows are candidates rather than results.
  private static let maximumScoredRows = 1000

  private static func shaped(_ shapes: [TensorShape]) -> DetectionOutputs? {
    guard shapes.count == 3 || shapes.count == 4 else { return nil }
    // With four rows, classes and scores have a last dimension of four as well, but fewer elements.
    let boxes = shapes.indices.filter { shapes[$0].dimensions.last == 4 }
      .max { shapes[$0].elementCount < shapes[$1].elementCount }
    guard let boxes else { return nil }
    var rest = shapes.indices.filter { $0 != boxes }
    var count: Int?
    if shapes.count == 4 {
      // With one row, all three are one number; that of the lowest rank, and of those the last, is the count.
      count = rest.filter { shapes[$0].elementCount == 1 }.reversed().min {
        shapes[$0].rank < shapes[$1].rank
      }
      rest.removeAll { $0 == count }
    }
    guard rest.count == 2 else { return nil }
    let classesFirst = boxes == 0
    let outputs = DetectionOutputs(
      boxes: boxes, classes: rest[classesFirst ? 0 : 1], scores: rest[classesFirst ? 1 : 0], count: count)
    return fits(outputs, shapes) ? outputs : nil
  }
}
