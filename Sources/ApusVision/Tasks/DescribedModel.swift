// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// A model and what its file says about it.
protocol DescribedModel {
  /// The model.
  var model: Model { get }
  /// The maker's metadata about its inputs and outputs; nil if there is none.
  var metadata: ModelMetadata? { get }
  /// The metadata that an exporter of YOLO models appended to it; nil if there is none.
  var export: ExportMetadata? { get }
  /// The outputs as prepared, in the model's order.
  var outputs: [Tensor] { get }
}

/// A model as its file describes it, which no task has prepared.
struct DescribedFile: DescribedModel {
  let model: Model
  let metadata: ModelMetadata?
  let export: ExportMetadata?
  let outputs: [Tensor]

  /// Describes a model, or the outputs of it that count.
  init(_ model: Model, outputs: [Tensor]) {
    self.model = model
    self.outputs = outputs
    (metadata, export) = (model.formatMetadata, model.exportMetadata)
  }
}

extension DescribedModel {
  /// The outputs, for an error that says what was found.
  var outputDescription: String { outputs.map(\.description).joined(separator: ", ") }

  /// Refuses a model that answers another question, by what its exporter says or by the operator that gives its outputs.
  ///
  /// - Parameters:
  ///   - tasks: What the exporter may call the task.
  ///   - asked: Our name of the task.
  func checkTask(_ tasks: Set<String>, for asked: String) throws(ApusError) {
    guard tasks.contains("detect") || !DetectionLayout.isOfOperator(model) else {
      throw ApusError(
        .invalidArgument,
        "the model's outputs are those of the operator TFLite_Detection_PostProcess, which detect answers, not \(asked)"
      )
    }
    guard let export, let task = export.task, ExportMetadata.tasks.contains(task), !tasks.contains(task)
    else { return }
    let answering =
      switch task {
      case "classify": "classify"
      case "pose": "keypoints or detect"
      case "semantic": "segment"
      default: "detect"
      }
    throw ApusError(
      .invalidArgument,
      "the model's metadata (\(export.fileName)) says that its task is '\(task)', which \(answering) answers, not \(asked)"
    )
  }

  /// The metadata of an output; nil if there is none.
  func description(of output: Int) -> TensorMetadata? {
    guard let described = metadata?.outputs, described.indices.contains(output) else { return nil }
    return described[output]
  }

  /// The minimum score that the metadata gives an output; nil if there is none.
  func minimumScore(of output: Int) -> Float? {
    description(of: output)?.scoreThreshold.flatMap { $0.isNaN ? nil : $0 }
  }

  /// An output's name in the metadata, or else in the graph.
  func name(of output: Int) -> String {
    let name = description(of: output)?.name ?? ""
    return name.isEmpty ? outputs[output].name : name
  }

  /// Whether an output has numbers: texts and complex numbers are none, and no task reads them.
  private func hasNumbers(_ output: Int) -> Bool {
    ![.string, .complex64, .complex128, .resource, .variant].contains(outputs[output].type)
  }

  /// The shape of an output with rows and columns, with a 1 in front for the batch where it has none; empty for one without numbers.
  func gridShape(of output: Int) -> [Int] {
    guard hasNumbers(output) else { return [] }
    let shape = outputs[output].shape.dimensions
    return (2...3).contains(shape.count) && shape.first != 1 ? [1] + shape : shape
  }

  /// The number of values of an output that is a row: `N`, `1×N`, `1×1×1×N` or `1×N×1×1`; nil for other shapes, and for one without
  /// numbers.
  func rowLength(of output: Int) -> Int? {
    guard hasNumbers(output) else { return nil }
    let shape = outputs[output].shape
    guard shape.rank == 1 || shape.rank > 1 && shape[0] == 1, shape.elementCount > 0,
      shape.dimensions.contains(shape.elementCount)
    else { return nil }
    return shape.elementCount
  }
}

extension Model {
  /// The error for a task that fills one input of a model that has another number of them.
  ///
  /// - Parameter content: What the task fills the input with.
  func inputRefusal(for content: String) -> ApusError {
    let most = 8
    let names = inputs.prefix(most).map(\.description).joined(separator: ", ")
    return ApusError(
      .invalidArgument,
      "the model has \(inputs.count) inputs, not one for \(content)"
        + (inputs.isEmpty
          ? ""
          : """
          : \(names)\(inputs.count > most ? ", …" : ""); 'apus run MODEL --input FIRST.npy --input SECOND.npy …', with \
          a file for each, or an interpreter runs it
          """))
  }
}
