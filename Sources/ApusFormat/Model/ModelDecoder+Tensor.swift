// SPDX-License-Identifier: Apache-2.0

extension ModelDecoder {
  mutating func tensor(_ table: FlatBufferTable, _ tensorCount: Int) throws(FormatError) -> TensorEntry {
    let name = try vector(table, 3, 1, "text") ?? .empty
    do throws(FormatError) {
      return try tensor(table, name, tensorCount)
    } catch {
      throw name.count == 0 ? error : error.inside("(\(bytes.text(name)))")
    }
  }

  private mutating func tensor(
    _ table: FlatBufferTable, _ name: FlatBufferVector, _ tensorCount: Int
  ) throws(FormatError) -> TensorEntry {
    let rawType = try table.integer(1, default: Int8(0))
    guard let type = TensorType(rawValue: rawType) else {
      throw FormatError("the type \(rawType) is unknown")
    }
    let shape = try dimensions(table, 0, "shape")
    var signature = try dimensions(table, 7, "shape signature")
    // Converters write such ones for tensors whose rank they do not know.
    if signature.count != shape.count { signature = [] }
    let elements = try elementCount(shape)
    let buffer = Int(try table.integer(2, default: UInt32(0)))
    // A model without tensors' data may have no list of buffers at all.
    guard buffer < max(buffers.count, 1) else {
      throw FormatError("it refers to buffer \(buffer) of \(buffers.count)")
    }
    guard try table.integer(10, default: UInt32(0)) == 0 else {
      throw FormatError("its data is in another file, which is not supported")
    }
    let isVariable = try table.bool(5, default: false)
    var data: Range<Int>?
    if buffer != 0, buffers[buffer].lowerBound > 0, !buffers[buffer].isEmpty || elements == 0 {
      data = buffers[buffer]
    }
    guard data == nil || !isVariable else { throw FormatError("it is variable and has constant data") }
    let quantization = try quantization(table, shape, tensorCount)
    var sparsity: SparsityEntry?
    if let whole = data {
      var stored = elements
      if let table = try table.table(6) {
        let (entry, count) = try self.sparsity(table, shape)
        sparsity = entry
        stored = count
      }
      if let stored, type.bitWidth != nil {
        let needed = type.byteCount(stored)
        guard let needed, sparsity == nil ? needed <= whole.count : needed == whole.count else {
          throw FormatError(
            "\(type.schemaName) of shape \(shape)\(sparsity == nil ? "" : ", sparse,") needs "
              + "\(needed.map(String.init) ?? "too many") bytes, and its buffer has \(whole.count)")
        }
        // As in the reference, bytes beyond those that the shape needs have no meaning.
        data = whole.lowerBound..<whole.lowerBound + needed
      }
      guard stored != nil else {
        throw FormatError("it has data, and its shape \(shape) is not known")
      }
    }
    return TensorEntry(
      bytes: bytes, name: name, type: type, shape: shape, shapeSignature: signature,
      hasRank: try table.bool(8, default: false), buffer: buffer, data: data, quantization: quantization,
      isVariable: isVariable, sparsity: sparsity)
  }

  private mutating func dimensions(
    _ table: FlatBufferTable, _ field: Int, _ what: String
  ) throws(FormatError) -> [Int] {
    guard let vector = try vector(table, field, 4, what) else { return [] }
    guard vector.count <= limits.maximumRank else {
      throw FormatError("\(what) has \(vector.count) dimensions, at most \(limits.maximumRank)")
    }
    let result = try table.reader.map(Int32.self, at: vector.start, count: vector.count) { Int($0) }
    guard result.allSatisfy({ $0 >= -1 }) else {
      throw FormatError("\(what) \(result) has a negative dimension")
    }
    return result
  }

  /// The number of elements; nil if a dimension is unknown. Throws if the known ones are too many.
  private func elementCount(_ shape: [Int]) throws(FormatError) -> Int? {
    var product = 1
    for dimension in shape where dimension > 0 {
      let (next, overflow) = product.multipliedReportingOverflow(by: dimension)
      guard !overflow, next <= limits.maximumElements else {
        throw FormatError(limit: "shape \(shape) has more than \(limits.maximumElements) elements")
      }
      product = next
    }
    return shape.contains(-1) ? nil : shape.contains(0) ? 0 : product
  }

  // MARK: Quantization

  private mutating func quantization(
    _ tensor: FlatBufferTable, _ shape: [Int], _ tensorCount: Int
  ) throws(FormatError) -> QuantizationEntry? {
    guard let table = try tensor.table(4) else { return nil }
    let scales = try vector(table, 2, 4, "scales") ?? .empty
    let zeroPoints = try vector(table, 3, 8, "zero points") ?? .empty
    let dimension = Int(try table.integer(6, default: Int32(0)))
    let detailsType = Int(try table.integer(4, default: UInt8(0)))
    guard detailsType <= 3 else { throw FormatError("the kind of quantization \(detailsType) is unknown") }
    let blockwise = detailsType == 2 ? try blockwiseQuantization(table, tensorCount) : nil
    if scales.count > 0, blockwise == nil {
      guard zeroPoints.count == scales.count else {
        throw FormatError("the quantization has \(scales.count) scales and \(zeroPoints.count) zero points")
      }
      guard dimension >= 0, shape.isEmpty || dimension < shape.count else {
        throw FormatError("the quantized dimension is \(dimension), and the shape is \(shape)")
      }
      guard scales.count == 1 || shape.isEmpty || scales.count == shape[dimension] else {
        throw FormatError(
          "the quantization has \(scales.count) scales, "
            + "and dimension \(dimension) of the shape is \(shape[dimension])"
        )
      }
    }
    return QuantizationEntry(
      bytes: bytes, scales: scales, zeroPoints: zeroPoints,
      minimums: try vector(table, 0, 4, "minimums") ?? .empty,
      maximums: try vector(table, 1, 4, "maximums") ?? .empty, quantizedDimension: dimension,
      detailsType: detailsType,
      blockwise: blockwise)
  }

  private func blockwiseQuantization(
    _ table: FlatBufferTable, _ tensorCount: Int
  ) throws(FormatError) -> BlockwiseQuantizationEntry? {
    guard let details = try table.table(5) else {
      throw FormatError("the blockwise quantization has no details")
    }
    let scales = Int(try details.integer(0, default: Int32(0)))
    let zeroPoints = Int(try details.integer(1, default: Int32(0)))
    guard (0..<tensorCount).contains(scales), (-1..<tensorCount).contains(zeroPoints) else {
      throw FormatError(
        "the blockwise quantization refers to tensors \(scales) and \(zeroPoints) of \(tensorCount)")
    }
    return BlockwiseQuantizationEntry(
      scales: scales, zeroPoints: zeroPoints, blockSize: Int(try details.integer(2, default: Int32(0))))
  }
}
