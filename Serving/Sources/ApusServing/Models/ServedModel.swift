// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Synchronization

/// A model that clients can ask for: names, shapes, limits and counts. Its weights are shared by all who run it.
public final class ServedModel: Sendable {
  /// Where it came from.
  public let source: ModelSource
  /// The inputs in the model's order.
  public let inputs: [TensorSpecification]
  /// The outputs in the model's order.
  public let outputs: [TensorSpecification]
  /// Whether the first dimension of all inputs and outputs is a batch of any size.
  public let batches: Bool
  /// Whether the first dimension of all inputs and outputs is open and no batch: the length of a sound, for example.
  let hasOpenLength: Bool
  /// The most items of a batch; 1 for a model that does not batch.
  public let maximumBatch: Int
  /// The counts and times.
  public let statistics = ModelStatistics()

  /// The bundle from which ``model`` is; nil for a single model.
  let bundle: TaskBundle?
  let model: Model
  /// The labels that come before those inside the model; nil if there are none.
  let givenLabels: LabelMap?
  let pictureInputs: [PictureTensor?]
  let inputPositions: [String: Int]
  let outputPositions: [String: Int]
  private let joinState = Mutex(Joining(count: 1, reason: nil))
  private let preparedShapes = Mutex<[[Int]]>([])
  private let pictureReading = Mutex<PictureReading?>(nil)
  private let abilities = Mutex<[VisionTaskKind: Bool]>([:])
  private let saidWarnings = SaidWarnings()
  private let outputLabels = Mutex<[LabelKey: LabelMap?]>([:])

  /// An output, and how many classes it has in an answer.
  private struct LabelKey: Hashable {
    let output: Int
    let classes: Int
  }

  /// The maximum number of outputs, and of rows of all of them, whose labels are kept.
  private static let maximumLabelMaps = 64
  private static let maximumLabelRows = 1 << 21

  /// The name by which clients ask for it.
  public var name: String { source.name }
  /// The version.
  public var version: String { source.version }

  /// Reads a model and names its inputs and outputs.
  ///
  /// - Throws: what stops the model, or each input and output that the protocol cannot carry.
  public init(_ source: ModelSource, maximumBatch: Int) throws(ApusError) {
    self.source = source
    bundle = try source.bundle()
    model = if let bundle { try ModelSource.landmarkModel(of: bundle) } else { try source.model() }
    givenLabels = try source.givenLabels
    // The main function runs, as in tasks and in `apus run`.
    let signature = model.mainSignature
    inputs = try TensorSpecification.all(model.inputs, signature: signature?.inputs ?? [], role: "input")
    outputs = try TensorSpecification.all(model.outputs, signature: signature?.outputs ?? [], role: "output")
    inputPositions = inputs.positions
    outputPositions = outputs.positions
    let isOpen = !inputs.isEmpty && !outputs.isEmpty && (inputs + outputs).allSatisfy { $0.shape.first == -1 }
    hasOpenLength = isOpen && inputs.count == 1 && inputs[0].shape.count == 1 && !Self.hasRows(model)
    batches = isOpen && !hasOpenLength
    self.maximumBatch = batches ? maximumBatch : 1
    let metadata = model.metadata
    pictureInputs = inputs.enumerated().map { position, input in
      let described = metadata?.inputs.indices.contains(position) == true ? metadata?.inputs[position] : nil
      return PictureTensor(input, metadata: described)
    }
  }

  /// Whether it is proved that each element of a model's only input, which has one dimension, stands alone, as the items of a batch do.
  private static func hasRows(_ model: Model) -> Bool {
    var options = Interpreter.Options()
    options.timeLimit = .seconds(3)
    return ((try? model.batching(upTo: 2, options: options))?.count ?? 1) > 1
  }

  /// The inputs as metadata describes them: the first dimension is open only if requests may choose it.
  public var describedInputs: [TensorSpecification] {
    guard !batches, !hasOpenLength else { return inputs }
    return inputs.map { input in
      guard input.shape.first == -1 else { return input }
      return input.with(shape: [input.defaultShape[0]] + input.shape.dropFirst())
    }
  }

  /// The outputs as metadata describes them: where the file gives an output no shape, it is the one that the engine computes for inputs
  /// of the file's shapes.
  public var describedOutputs: [TensorSpecification] {
    let prepared = preparedShapes.withLock { $0 }
    return outputs.enumerated().map { position, output in
      guard output.shape.isEmpty, prepared.indices.contains(position), !prepared[position].isEmpty else {
        return output
      }
      return output.with(shape: prepared[position])
    }
  }

  /// Notes the shapes of the outputs once the model is prepared.
  func note(outputShapes: [[Int]]) { preparedShapes.withLock { $0 = outputShapes } }

  /// How many items of different requests may share a run: one until that is proved, see `Scheduler.prepare(_:)`.
  public var joining: Joining { joinState.withLock { $0 } }

  func allow(_ joining: Joining) { joinState.withLock { $0 = joining } }

  /// The warnings of a task that were not given for this model before. They count as given from now on.
  public func newWarnings(_ task: VisionTaskKind, _ assumptions: TaskAssumptions, isOfSettings: Bool = false)
    -> [TaskWarning]
  {
    saidWarnings.new(assumptions.warnings, of: task, isOfSettings: isOfSettings).map {
      TaskWarning(model: name, version: version, task: task, text: $0)
    }
  }

  /// Whether the classes of an output have names.
  public var hasLabels: Bool {
    givenLabels != nil
      || outputs.indices.contains { position in
        labels(ofOutput: position, classes: outputs[position].defaultShape.last ?? 1) != nil
      }
  }

  /// Whether an input takes encoded pictures in place of its elements.
  public func takesPictures(atInput position: Int) -> Bool { pictureInputs[position] != nil }

  /// Whether the only input takes pictures as a task might fill it.
  var hasInputOfTasks: Bool { inputs.count == 1 }

  /// How pictures become elements, found out by `find` with the first of them.
  func pictureReading(_ find: () throws(ApusError) -> PictureReading) throws(ApusError) -> PictureReading {
    if let known = pictureReading.withLock({ $0 }) { return known }
    let found = try find()
    pictureReading.withLock { $0 = found }
    return found
  }

  /// Whether the model can do a task, found out by `find` the first time.
  func canDo(_ kind: VisionTaskKind, _ find: () -> Bool) -> Bool {
    if let known = abilities.withLock({ $0[kind] }) { return known }
    let found = find()
    abilities.withLock { $0[kind] = found }
    return found
  }

  /// The names of an output's classes, as the task `classify` has them; nil if there are none.
  func labels(ofOutput position: Int, classes: Int) -> LabelMap? {
    let key = LabelKey(output: position, classes: classes)
    if let known = outputLabels.withLock({ $0[key] }) { return known }
    let found = LabelMap(ofOutput: position, of: model, scoreCount: classes, given: givenLabels)
    outputLabels.withLock { kept in
      let rows = kept.values.reduce(found?.rowCount ?? 0) { $0 + ($1?.rowCount ?? 0) }
      // Outputs of open shapes may have any number of classes.
      if kept.count >= Self.maximumLabelMaps || rows > Self.maximumLabelRows { kept = [:] }
      kept.updateValue(found, forKey: key)
    }
    return found
  }
}
