// SPDX-License-Identifier: Apache-2.0

extension ModelDecoder {
  mutating func subgraph(_ table: FlatBufferTable) throws(FormatError) -> SubgraphEntry {
    let name = try string(table, 4) ?? ""
    // Blockwise scales are other tensors, so that the count must be known before the first.
    let count = try table.vector(0, elementSize: 4)?.count ?? 0
    tensorCount += count
    guard tensorCount <= limits.maximumTensors else {
      throw FormatError(limit: "there are \(tensorCount) tensors or more, at most \(limits.maximumTensors)")
    }
    let tensors = try entries(table, 0, "tensor", "tensors", limits.maximumTensors) {
      (decoder, table, _) throws(FormatError) in try decoder.tensor(table, count)
    }
    let inputs = try indices(table, 1, "input", "inputs", count)
    let outputs = try indices(table, 2, "output", "outputs", count)
    listedCount += inputs.count + outputs.count
    guard listedCount <= limits.maximumTensors else {
      throw FormatError(
        limit: "there are \(listedCount) inputs and outputs or more, at most \(limits.maximumTensors)")
    }
    for tensor in inputs { try chargeDescription(of: tensors[tensor]) }
    for tensor in outputs { try chargeDescription(of: tensors[tensor]) }
    operatorCount += try table.vector(3, elementSize: 4)?.count ?? 0
    guard operatorCount <= limits.maximumOperators else {
      throw FormatError(
        limit: "there are \(operatorCount) operators or more, at most \(limits.maximumOperators)")
    }
    let operators = try entries(table, 3, "operator", "operators", limits.maximumOperators) {
      (decoder, table, _) throws(FormatError) in try decoder.operatorEntry(table, count)
    }
    return SubgraphEntry(name: name, tensors: tensors, inputs: inputs, outputs: outputs, operators: operators)
  }

  /// Charges what describes a tensor wherever it is listed: one may be listed any number of times.
  mutating func chargeDescription(of tensor: TensorEntry) throws(FormatError) {
    try budget.charge(tensor.name.utf8.count + 8 * (tensor.quantization?.scaleCount ?? 0))
  }

  private mutating func operatorEntry(
    _ table: FlatBufferTable, _ tensorCount: Int
  ) throws(FormatError) -> OperatorEntry {
    let code = Int(try table.integer(0, default: UInt32(0)))
    guard operatorCodes.indices.contains(code) else {
      throw FormatError("it refers to operator code \(code) of \(operatorCodes.count)")
    }
    try budget.charge(operatorCodes[code].customName.utf8.count)
    do throws(FormatError) {
      return OperatorEntry(
        operatorCode: code,
        inputs: try indices(table, 1, "input", "inputs", tensorCount, allowsAbsent: true),
        outputs: try indices(table, 2, "output", "outputs", tensorCount),
        intermediates: try indices(table, 8, "intermediate", "intermediates", tensorCount),
        mutatingVariableInputs: try flags(table, 7),
        optionsType: Int(try table.integer(3, default: UInt8(0))),
        options: try options(table, 4, 3, operatorCodes[code].code?.optionsType),
        options2Type: Int(try table.integer(11, default: UInt8(0))),
        options2: try options(table, 12, 11, operatorCodes[code].code?.options2Type),
        customOptions: try customOptions(table))
    } catch {
      throw error.inside("(\(operatorCodes[code].name))")
    }
  }

  private mutating func flags(_ table: FlatBufferTable, _ field: Int) throws(FormatError) -> [Bool] {
    guard let vector = try vector(table, field, 1, "mutating variable inputs") else { return [] }
    return try table.reader.map(UInt8.self, at: vector.start, count: vector.count) { $0 != 0 }
  }

  private mutating func options(
    _ table: FlatBufferTable, _ field: Int, _ typeField: Int, _ expectedType: Int?
  ) throws(FormatError) -> OptionsTable {
    // A table without a type is not of any type, and one of another operator's type has none of the fields that
    // this one reads: the schema's own accessors return neither.
    let type = Int(try table.integer(typeField, default: UInt8(0)))
    guard type != 0, type == expectedType ?? type else { return .empty }
    do throws(FormatError) {
      guard let options = try table.table(field) else { return .empty }
      try budget.charge(DecodingBudget.table)
      let read = OptionsTable(bytes, options.header)
      // Each of its branches is followed.
      if expectedType == OperatorCode.stablehloCase.options2Type, typeField == 11 {
        try budget.charge((try options.vector(0, elementSize: 4)?.count ?? 0) * DecodingBudget.table)
      }
      return read
    } catch {
      throw error.inside("options")
    }
  }

  private mutating func customOptions(_ table: FlatBufferTable) throws(FormatError) -> Range<Int>? {
    if let vector = try vector(table, 5, 1, "custom options") {
      return vector.start..<(vector.start + vector.count)
    }
    guard let range = try external(table, 9, 10, "custom options") else { return nil }
    try budget.charge(range.count)
    try table.reader.require(range.count, at: range.lowerBound)
    return range
  }

  /// Indices of tensors, each in range, or -1 where `allowsAbsent`.
  private mutating func indices(
    _ table: FlatBufferTable, _ field: Int, _ name: String, _ plural: String, _ count: Int,
    allowsAbsent: Bool = false
  ) throws(FormatError) -> [Int] {
    let result = try integers(table, field, plural)
    let least = allowsAbsent ? -1 : 0
    for (position, index) in result.enumerated() where index < least || index >= count {
      throw FormatError("\(name) \(position) is tensor \(index), and there are \(count)")
    }
    return result
  }
}
