// SPDX-License-Identifier: Apache-2.0
import Apus

/// Evidence that tells apart heads whose outputs have equal shapes.
extension PreparedModel {
  /// The model's name, descriptions and names of outputs, in lower case.
  var words: String {
    let described = metadata.map { [$0.name, $0.description] } ?? []
    let texts =
      [model.description, export?.description ?? ""] + described
      + outputs.indices.flatMap { [outputs[$0].name, description(of: $0)?.name ?? ""] }
    return texts.joined(separator: "\n").lowercased()
  }

  /// The names of an output in the metadata, the signatures and the graph, in lower case.
  func names(of output: Int) -> [String] {
    let tensor = outputs[output]
    let signed = model.signatures.lazy.filter { $0.subgraph == 0 }.prefix(DetectionLayout.maximumSignatures)
      .flatMap { $0.outputs.filter { $0.tensor.index == tensor.index }.map(\.name) }
    return ([description(of: output)?.name ?? "", tensor.name] + signed).map { $0.lowercased() }
  }

  /// Whether the model calls itself one of these.
  func isCalled(_ names: String...) -> Bool {
    let words = words
    return names.contains(where: words.contains)
  }

  /// Whether the only output is a map of cells, of 8, 16 or 32 pixels each.
  var isMap: Bool {
    guard outputs.count == 1, outputs[0].shape.rank >= 4 else { return false }
    let dimensions = Array(outputs[0].shape.dimensions.dropFirst())
    return [8, 16, 32].contains { side in
      let cells = [(geometry.height + side - 1) / side, (geometry.width + side - 1) / side]
      return Array(dimensions.prefix(2)) == cells || Array(dimensions.suffix(2)) == cells
    }
  }

  /// Whether an output has as many rows as a picture has objects: an open dimension that is not the batch.
  func hasOpenRows(_ output: Int) -> Bool {
    let signature = outputs[output].shapeSignature
    guard signature.count >= 2 else { return false }
    if signature.dropFirst().dropLast().contains(where: { $0 < 0 }) { return true }
    return signature.count == 2 && signature[0] < 0 && (interpreter.inputs[0].shapeSignature.first ?? -1) >= 0
  }

  /// The command that takes a model of poses, faces or masks; nil for others.
  var otherCommand: String? {
    if MoveNetHead(self) != nil || PoseNetHead(self) != nil { return "apus keypoints" }
    // A box and at least a point.
    if let found = FaceAnchors.find(outputs.map(\.shape), width: geometry.width, height: geometry.height),
      found.columns > 4
    {
      return "apus faces"
    }
    // As large as the picture, with several channels: more than a grid of cells.
    let isMask = outputs.contains { output in
      output.shape.rank == 4 && output.shape.dimensions.contains(geometry.width)
        && output.shape.dimensions.contains(geometry.height) && geometry.width > 4
    }
    return isMask ? "apus segment' or 'apus transform" : nil
  }

  /// The number of classes that names give: those of the exporter, else the caller's.
  func knownClassCount(_ labels: LabelMap?) -> Int? {
    export?.names.keys.max().map { $0 + 1 } ?? labels.map { $0.rowCount - $0.detectedOffset }
  }

  /// A warning about classes in integers whose steps are greater than 1, so that neighbors have one number; nil for others.
  func classStepWarning(_ output: Int) -> String? {
    let tensor = outputs[output]
    guard tensor.type != .float32, let scale = tensor.quantization?.scale, scale > 1 else { return nil }
    return """
      the classes have collapsed: output \(output) has them in steps of \(scale), so that an answer may have the number of a neighbor; export the \
      model with classes as floats or as integers without a scale
      """
  }

  /// The widths that a concatenation of the graph joins to `width`, each of them sorted.
  func joinedWidths(_ width: Int) -> Set<[Int]> {
    let subgraph = model.file.subgraphs[0]
    var found: Set<[Int]> = []
    for node in subgraph.operators
    where node.inputs.count > 1 && model.file.operatorCodes[node.operatorCode].name == "CONCATENATION" {
      guard let output = node.outputs.first, subgraph.tensors.indices.contains(output),
        node.inputs.allSatisfy(subgraph.tensors.indices.contains)
      else { continue }
      let result = subgraph.tensors[output].shape
      let shapes = node.inputs.map { subgraph.tensors[$0].shape }
      guard shapes.allSatisfy({ $0.count == result.count }) else { continue }
      for axis in result.indices where result[axis] == width {
        let widths = shapes.map { $0[axis] }
        if widths.allSatisfy({ $0 > 0 && $0 < width }) { found.insert(widths.sorted()) }
      }
    }
    return found
  }

  /// The operator that computes an output, apart from those that only change its form or type; nil if none does.
  func lastOperator(of output: Int) -> String? {
    let subgraph = model.file.subgraphs[0]
    guard subgraph.outputs.indices.contains(output) else { return nil }
    var tensor = subgraph.outputs[output]
    for node in subgraph.operators.reversed() where node.outputs.contains(tensor) {
      let name = model.file.operatorCodes[node.operatorCode].name
      guard
        ["RESHAPE", "DEQUANTIZE", "QUANTIZE", "TRANSPOSE", "SQUEEZE", "EXPAND_DIMS", "CAST"].contains(name),
        let input = node.inputs.first
      else { return name }
      tensor = input
    }
    return nil
  }

  /// An output's numbers for a gray picture; nil if the model refuses it.
  ///
  /// In every picture, boxes lie in their cells, sizes are not negative, and a class is a whole number. So
  /// one picture tells what the columns are. Costs a run.
  func probe(_ output: Int) -> [Float]? {
    do {
      switch interpreter.inputs[0].type {
      case .float32: try fillInput(Float(0.447))
      case .uint8: try fillInput(UInt8(114))
      case .int8: try fillInput(Int8(-14))
      case .int16: try fillInput(Int16(0))
      case .int32: try fillInput(Int32(114))
      default: return nil
      }
      try interpreter.invoke()
      return try interpreter.dequantizedOutput(at: output)
    } catch {
      return nil
    }
  }

  /// Whether the numbers of each row of an output are probabilities that sum to 1, for a gray picture.
  func sumToOne(_ output: Int, columns: Int) -> Bool {
    guard let values = probe(output), values.count.isMultiple(of: columns), !values.isEmpty else {
      return false
    }
    return stride(from: 0, to: values.count, by: columns).allSatisfy { row in
      let row = values[row..<row + columns]
      // Each byte is rounded by half a step of 1/256.
      return row.allSatisfy { (0...1).contains($0) }
        && abs(row.reduce(0, +) - 1) <= 0.01 + 0.002 * Float(columns)
    }
  }

  /// Whether the last column of candidates is an angle, as some of its values for a gray picture can be no scores, while all others
  /// from the fifth on can; nil if the model refuses the picture.
  func hasAngles(_ output: Int, rows: Int, columns: Int, isTransposed: Bool) -> Bool? {
    CandidateColumns(self, output, rows: rows, columns: columns, isTransposed: isTransposed).map {
      !$0.isScore(columns - 1) && (4..<columns - 1).allSatisfy($0.isScore)
    }
  }

  private func fillInput<Value: TensorElement>(_ value: Value) throws(ApusError) {
    try interpreter.withInput(at: 0, as: Value.self) { span throws(ApusError) in
      for index in 0..<span.count { span[index] = value }
    }
  }

  /// A head whose edges are distributions of 8, 16 or 17 numbers each, which is not read; nil if no head with that many columns is one.
  ///
  /// - Parameter classes: How many classes there are; those of COCO if nothing says it.
  func distributions(columns: Int, classes: Int = 80) -> String? {
    guard [8, 16, 17].contains(where: { columns - classes == 4 * $0 }) else { return nil }
    return
      "\(classes) classes and \((columns - classes) / 4) numbers for each edge of a box (a distribution, DFL), which is not read: export the "
      + "model with its boxes decoded"
  }

  /// The error for an output that has another number of classes than there are names.
  func contradiction(of output: Int, _ found: String, names: Int, columns: Int) -> ApusError {
    let advice =
      distributions(columns: columns, classes: names).map { "; it may be that of \($0)" }
      ?? "; the names may be those of another model"
    return ApusError(
      .invalidArgument,
      "the output \(outputs[output].shape) would be \(found), but there are names for \(names)\(advice)")
  }

  /// The error for an output that several layouts fit, which the caller has to choose from.
  ///
  /// - Parameters:
  ///   - readings: The layouts, each with what would be read.
  ///   - others: What else the output may be, which is no detector's.
  func ambiguity(of output: Int, _ readings: [(DetectorLayout, String)], others: [String] = []) -> ApusError {
    let choices = (readings.map { "\($0.0.rawValue) (\($0.1))" } + others).joined(separator: " or ")
    return ApusError(
      .invalidArgument,
      """
      the output \(outputs[output].shape) can be that of \(choices): nothing in the model decides, so the layout must be \
      chosen (--layout)
      """)
  }
}
