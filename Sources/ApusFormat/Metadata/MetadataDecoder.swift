// SPDX-License-Identifier: Apache-2.0

/// Turns the tables of a metadata FlatBuffer into values.
struct MetadataDecoder {
  private var budget: DecodingBudget

  init(size: Int) {
    budget = DecodingBudget(fileSize: size)
  }

  mutating func model(_ reader: ByteReader) throws(FormatError) -> ModelMetadata {
    let root = try FlatBufferTable.root(reader, identifier: "M001")
    var inputs: [TensorMetadata] = []
    var outputs: [TensorMetadata] = []
    var files = try self.files(root, 6)
    var custom: [String: [UInt8]] = [:]
    // The first subgraph is the model's own.
    if let subgraphs = try vector(root, 3, 4), subgraphs.count > 0 {
      let subgraph = try root.table(in: subgraphs, at: 0)
      inputs = try tensors(subgraph, 2, "input")
      outputs = try tensors(subgraph, 3, "output")
      files += try self.files(subgraph, 4)
      custom = try self.custom(subgraph, 9)
    }
    return ModelMetadata(
      name: try string(root, 0), description: try string(root, 1), version: try string(root, 2),
      author: try string(root, 4), license: try string(root, 5), minimumParserVersion: try string(root, 7),
      inputs: inputs, outputs: outputs, associatedFiles: files, custom: custom)
  }

  private mutating func tensors(
    _ table: FlatBufferTable, _ field: Int, _ name: String
  ) throws(FormatError) -> [TensorMetadata] {
    guard let vector = try vector(table, field, 4) else { return [] }
    var result: [TensorMetadata] = []
    for index in 0..<vector.count {
      do throws(FormatError) {
        result.append(try tensor(try table.table(in: vector, at: index)))
      } catch {
        throw error.inside("\(name) \(index)")
      }
    }
    return result
  }

  private mutating func tensor(_ table: FlatBufferTable) throws(FormatError) -> TensorMetadata {
    try budget.charge(DecodingBudget.table * 4)
    var content = TensorMetadata.Content.unknown
    var range: ClosedRange<Int>?
    if let description = try table.table(3) {
      content = try self.content(description)
      range = try valueRange(description)
    }
    let units = try processUnits(table)
    let statistics = try table.table(5)
    return TensorMetadata(
      name: try string(table, 0), description: try string(table, 1), dimensionNames: try strings(table, 2),
      content: content, valueRange: range, normalization: units.normalization,
      scoreThreshold: units.threshold, scoreCalibration: units.calibration,
      minimums: try statistics.map { (table) throws(FormatError) in try floats(table, 1) } ?? [],
      maximums: try statistics.map { (table) throws(FormatError) in try floats(table, 0) } ?? [],
      associatedFiles: try files(table, 6))
  }

  private mutating func content(_ table: FlatBufferTable) throws(FormatError) -> TensorMetadata.Content {
    guard let properties = try table.table(1) else { return .unknown }
    switch try table.integer(0, default: UInt8(0)) {
    case 1:
      return .feature
    case 2:
      let colorSpace = TensorMetadata.ImageProperties.ColorSpace(
        rawValue: try properties.integer(0, default: Int8(0)))
      var size: (width: Int, height: Int)?
      if let table = try properties.table(1) {
        size = (Int(try table.integer(0, default: UInt32(0))), Int(try table.integer(1, default: UInt32(0))))
      }
      return .image(
        TensorMetadata.ImageProperties(
          colorSpace: colorSpace ?? .unknown, defaultWidth: size?.width, defaultHeight: size?.height))
    case 3:
      return .boundingBox(try boundingBox(properties))
    case 4:
      return .audio(
        sampleRate: Int(try properties.integer(0, default: UInt32(0))),
        channels: Int(try properties.integer(1, default: UInt32(0))))
    default:
      return .unknown
    }
  }

  private mutating func boundingBox(
    _ table: FlatBufferTable
  ) throws(FormatError) -> TensorMetadata.BoundingBoxProperties {
    var index: [Int] = []
    if let vector = try vector(table, 0, 4) {
      index = try table.reader.map(UInt32.self, at: vector.start, count: vector.count) { Int($0) }
    }
    let type = TensorMetadata.BoundingBoxProperties.Kind(rawValue: try table.integer(1, default: Int8(0)))
    let coordinates = try table.integer(2, default: Int8(0))
    guard let coordinateType = TensorMetadata.BoundingBoxProperties.CoordinateType(rawValue: coordinates)
    else {
      throw FormatError("the coordinate type \(coordinates) is unknown")
    }
    return TensorMetadata.BoundingBoxProperties(
      index: index, type: type ?? .unknown, coordinateType: coordinateType)
  }

  private func valueRange(_ table: FlatBufferTable) throws(FormatError) -> ClosedRange<Int>? {
    guard let range = try table.table(2) else { return nil }
    let minimum = Int(try range.integer(0, default: Int32(0)))
    let maximum = Int(try range.integer(1, default: Int32(0)))
    guard minimum <= maximum else { throw FormatError("the range of dimensions is \(minimum) to \(maximum)") }
    return minimum...maximum
  }

  private typealias ProcessUnits = (
    normalization: TensorMetadata.Normalization?, threshold: Float?,
    calibration: TensorMetadata.ScoreCalibration?
  )

  /// Processing of the tensor's values outside the graph; of several units of a kind the first counts.
  private mutating func processUnits(_ table: FlatBufferTable) throws(FormatError) -> ProcessUnits {
    var result: ProcessUnits = (nil, nil, nil)
    guard let vector = try vector(table, 4, 4) else { return result }
    for index in 0..<vector.count {
      try budget.charge(DecodingBudget.table)
      let unit = try table.table(in: vector, at: index)
      guard let options = try unit.table(1) else { continue }
      switch try unit.integer(0, default: UInt8(0)) {
      case 1 where result.normalization == nil:
        result.normalization = TensorMetadata.Normalization(
          mean: try floats(options, 0), std: try floats(options, 1))
      case 2 where result.calibration == nil:
        let kind = try options.integer(0, default: Int8(0))
        guard let transformation = TensorMetadata.ScoreCalibration.Transformation(rawValue: kind) else {
          throw FormatError("the score transformation \(kind) is unknown")
        }
        result.calibration = TensorMetadata.ScoreCalibration(
          transformation: transformation, defaultScore: try options.float(1, default: 0))
      case 3 where result.threshold == nil:
        result.threshold = try options.float(0, default: 0)
      default:
        continue
      }
    }
    return result
  }

  private mutating func files(_ table: FlatBufferTable, _ field: Int) throws(FormatError) -> [AssociatedFile]
  {
    guard let vector = try vector(table, field, 4) else { return [] }
    var result: [AssociatedFile] = []
    for index in 0..<vector.count {
      do throws(FormatError) {
        try budget.charge(DecodingBudget.table)
        let file = try table.table(in: vector, at: index)
        result.append(
          AssociatedFile(
            name: try string(file, 0), description: try string(file, 1),
            type: AssociatedFile.Kind(rawValue: try file.integer(2, default: Int8(0))) ?? .unknown,
            locale: try string(file, 3), version: try string(file, 4)))
      } catch {
        throw error.inside("associated file \(index)")
      }
    }
    return result
  }

  /// Bytes by name; of several with the same name, the first.
  private mutating func custom(_ table: FlatBufferTable, _ field: Int) throws(FormatError) -> [String:
    [UInt8]]
  {
    guard let vector = try vector(table, field, 4) else { return [:] }
    var result: [String: [UInt8]] = [:]
    for index in 0..<vector.count {
      do throws(FormatError) {
        try budget.charge(DecodingBudget.table)
        let entry = try table.table(in: vector, at: index)
        let name = try string(entry, 0)
        guard result[name] == nil, let data = try self.vector(entry, 1, 1) else { continue }
        result[name] = try entry.reader.integers(UInt8.self, at: data.start, count: data.count)
      } catch {
        throw error.inside("custom metadata \(index)")
      }
    }
    return result
  }

  // MARK: Parts

  private mutating func vector(
    _ table: FlatBufferTable, _ field: Int, _ elementSize: Int
  ) throws(FormatError) -> FlatBufferVector? {
    guard let vector = try table.vector(field, elementSize: elementSize) else { return nil }
    try budget.charge(vector.count * elementSize)
    return vector
  }

  private mutating func floats(_ table: FlatBufferTable, _ field: Int) throws(FormatError) -> [Float] {
    guard let vector = try vector(table, field, 4) else { return [] }
    return try table.reader.map(UInt32.self, at: vector.start, count: vector.count) { Float(bitPattern: $0) }
  }

  private mutating func string(_ table: FlatBufferTable, _ field: Int) throws(FormatError) -> String {
    guard let text = try vector(table, field, 1) else { return "" }
    return try table.reader.text(at: text.start, length: text.count)
  }

  private mutating func strings(_ table: FlatBufferTable, _ field: Int) throws(FormatError) -> [String] {
    guard let vector = try vector(table, field, 4) else { return [] }
    var result: [String] = []
    for index in 0..<vector.count {
      let text = try table.textRange(in: vector, at: index)
      try budget.charge(DecodingBudget.table + text.count)
      result.append(try table.reader.text(at: text.start, length: text.count))
    }
    return result
  }
}
