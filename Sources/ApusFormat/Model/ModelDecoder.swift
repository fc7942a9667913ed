// SPDX-License-Identifier: Apache-2.0

/// Turns the tables of one file into checked values.
struct ModelDecoder {
  let bytes: FileBytes
  let limits: Limits
  var budget: DecodingBudget
  /// Each buffer's bytes. A data vector begins behind the file's header, even an empty one; a buffer without has 0..<0.
  var buffers: [Range<Int>] = []
  var operatorCodes: [OperatorCodeEntry] = []
  var tensorCount = 0
  /// The number of inputs and outputs of all subgraphs, each of which is described anew.
  var listedCount = 0
  var operatorCount = 0

  init(_ bytes: FileBytes, _ limits: Limits) {
    self.bytes = bytes
    self.limits = limits
    budget = DecodingBudget(fileSize: bytes.count)
  }

  mutating func model(_ reader: ByteReader) throws(FormatError) -> ModelFile {
    let root = try FlatBufferTable.root(reader, identifier: ModelFile.identifier)
    let version = try root.integer(0, default: UInt32(0))
    guard version == 3 else { throw FormatError("the schema version is \(version), not 3") }
    operatorCodes = try entries(root, 1, "operator code", "operator codes", limits.maximumOperatorCodes) {
      (decoder, table, _) throws(FormatError) in try decoder.operatorCode(table)
    }
    buffers = try entries(root, 4, "buffer", "buffers", limits.maximumBuffers) {
      (decoder, table, _) throws(FormatError) in try decoder.buffer(table)
    }
    let subgraphs = try entries(root, 2, "subgraph", "subgraphs", limits.maximumSubgraphs) {
      (decoder, table, _) throws(FormatError) in try decoder.subgraph(table)
    }
    guard !subgraphs.isEmpty else { throw FormatError("the model has no subgraph") }
    let signatures = try entries(root, 7, "signature", "signatures", limits.maximumSignatures) {
      (decoder, table, _) throws(FormatError) in try decoder.signature(table, subgraphs)
    }
    return ModelFile(
      bytes: bytes, schemaVersion: Int(version), description: try string(root, 3) ?? "",
      operatorCodes: operatorCodes, subgraphs: subgraphs, buffers: buffers,
      metadata: metadata(root), signatures: signatures)
  }

  // MARK: Model

  private mutating func operatorCode(_ table: FlatBufferTable) throws(FormatError) -> OperatorCodeEntry {
    // Codes above 127 are in the newer field alone; older files have the older field alone.
    let old = Int32(try table.integer(0, default: Int8(0)))
    let new = try table.integer(3, default: Int32(0))
    let number = max(old, new)
    guard number >= 0 else { throw FormatError("the code is \(number)") }
    let code = OperatorCode(number: number)
    let name = try string(table, 1) ?? ""
    guard code != .custom || !name.isEmpty else { throw FormatError("the custom operator has no name") }
    return OperatorCodeEntry(
      number: number, code: code, customName: code == .custom ? name : "",
      version: Int(try table.integer(2, default: Int32(1))))
  }

  private mutating func buffer(_ table: FlatBufferTable) throws(FormatError) -> Range<Int> {
    if let data = try table.vector(0, elementSize: 1) { return data.start..<(data.start + data.count) }
    return try external(table, 1, 2, "data") ?? 0..<0
  }

  /// Bytes behind the FlatBuffer, which two 64-bit fields locate; an offset of 0 or 1 means none.
  func external(
    _ table: FlatBufferTable, _ offsetField: Int, _ sizeField: Int, _ what: String
  ) throws(FormatError) -> Range<Int>? {
    let offset = try table.integer(offsetField, default: UInt64(0))
    guard offset > 1 else { return nil }
    let size = try table.integer(sizeField, default: UInt64(0))
    guard let start = Int(exactly: offset), let count = Int(exactly: size),
      table.reader.contains(count, at: start)
    else {
      throw FormatError(
        outside: "the \(what): \(size) bytes at offset \(offset), outside the file's \(table.reader.count)")
    }
    return start..<(start + count)
  }

  private mutating func signature(
    _ table: FlatBufferTable, _ subgraphs: [SubgraphEntry]
  ) throws(FormatError) -> SignatureEntry {
    guard let key = try string(table, 2) else { throw FormatError("it has no key") }
    let subgraph = Int(try table.integer(4, default: UInt32(0)))
    guard subgraphs.indices.contains(subgraph) else {
      throw FormatError("'\(key)' refers to subgraph \(subgraph) of \(subgraphs.count)")
    }
    let count = subgraphs[subgraph].tensors.count
    let inputs = try signatureTensors(table, 0, "input", count)
    let outputs = try signatureTensors(table, 1, "output", count)
    for argument in inputs { try chargeDescription(of: subgraphs[subgraph].tensors[argument.tensor]) }
    for argument in outputs { try chargeDescription(of: subgraphs[subgraph].tensors[argument.tensor]) }
    return SignatureEntry(key: key, subgraph: subgraph, inputs: inputs, outputs: outputs)
  }

  private mutating func signatureTensors(
    _ table: FlatBufferTable, _ field: Int, _ place: String, _ tensorCount: Int
  ) throws(FormatError) -> [SignatureEntry.Tensor] {
    try entries(table, field, place, "\(place)s", limits.maximumTensors) {
      (decoder, table, _) throws(FormatError) in
      let name = try decoder.string(table, 0) ?? ""
      let tensor = Int(try table.integer(1, default: UInt32(0)))
      guard tensor < tensorCount else {
        throw FormatError("'\(name)' refers to tensor \(tensor) of \(tensorCount)")
      }
      return SignatureEntry.Tensor(name: name, tensor: tensor)
    }
  }

  /// The named buffers that can be read; damaged ones are left out.
  private mutating func metadata(_ root: FlatBufferTable) -> [MetadataEntry] {
    guard let vector = try? root.vector(6, elementSize: 4) else { return [] }
    var result: [MetadataEntry] = []
    for index in 0..<min(vector.count, limits.maximumBuffers) {
      do throws(FormatError) {
        try budget.charge(DecodingBudget.table)
        let table = try root.table(in: vector, at: index)
        let buffer = Int(try table.integer(1, default: UInt32(0)))
        guard buffers.indices.contains(buffer) else { continue }
        result.append(MetadataEntry(name: try string(table, 0) ?? "", buffer: buffer))
      } catch {
        continue
      }
    }
    return result
  }

  // MARK: Parts

  /// Decodes each table of a vector of tables; absent vectors are empty. Errors name the entry.
  mutating func entries<R>(
    _ table: FlatBufferTable, _ field: Int, _ name: String, _ plural: String, _ maximum: Int,
    _ decode: (inout ModelDecoder, FlatBufferTable, Int) throws(FormatError) -> R
  ) throws(FormatError) -> [R] {
    guard let vector = try vector(table, field, 4, plural) else { return [] }
    guard vector.count <= maximum else {
      throw FormatError(limit: "there are \(vector.count) \(plural), at most \(maximum)")
    }
    try budget.charge(vector.count * DecodingBudget.table)
    var result: [R] = []
    result.reserveCapacity(vector.count)
    for index in 0..<vector.count {
      do throws(FormatError) {
        result.append(try decode(&self, try table.table(in: vector, at: index), index))
      } catch {
        throw error.inside("\(name) \(index)")
      }
    }
    return result
  }

  /// A vector field, charged to the budget.
  mutating func vector(
    _ table: FlatBufferTable, _ field: Int, _ elementSize: Int, _ what: String
  ) throws(FormatError) -> FlatBufferVector? {
    do throws(FormatError) {
      guard let vector = try table.vector(field, elementSize: elementSize) else { return nil }
      try budget.charge(vector.count * elementSize)
      try table.reader.require(vector.count * elementSize, at: vector.start)
      return vector
    } catch {
      throw error.inside(what)
    }
  }

  /// 32-bit integers as `Int`s; an absent vector is empty.
  mutating func integers(_ table: FlatBufferTable, _ field: Int, _ what: String) throws(FormatError) -> [Int]
  {
    guard let vector = try vector(table, field, 4, what) else { return [] }
    return try table.reader.map(Int32.self, at: vector.start, count: vector.count) { Int($0) }
  }

  /// A text, or nil where it is absent.
  mutating func string(_ table: FlatBufferTable, _ field: Int) throws(FormatError) -> String? {
    guard let text = try vector(table, field, 1, "text") else { return nil }
    return try table.reader.text(at: text.start, length: text.count)
  }
}
