// SPDX-License-Identifier: Apache-2.0

extension ModelDecoder {
  /// A sparse constant's arrangement, checked against the shape, and the number of elements that it stores.
  mutating func sparsity(
    _ table: FlatBufferTable, _ shape: [Int]
  ) throws(FormatError) -> (entry: SparsityEntry, storedElements: Int?) {
    do throws(FormatError) {
      let order = try integers(table, 0, "traversal order")
      let blockMap = try integers(table, 1, "block map")
      guard order.count <= 2 * limits.maximumRank else {
        throw FormatError("there are \(order.count) dimensions, at most \(2 * limits.maximumRank)")
      }
      let levels = try entries(table, 2, "dimension", "dimensions", 2 * limits.maximumRank) {
        (decoder, table, _) throws(FormatError) in try decoder.dimension(table)
      }
      let entry = SparsityEntry(traversalOrder: order, blockMap: blockMap, dimensions: levels)
      return (entry, try storedElements(entry, try sizes(entry, shape)))
    } catch {
      throw error.inside("sparsity")
    }
  }

  private mutating func dimension(_ table: FlatBufferTable) throws(FormatError) -> DimensionEntry {
    let format = try table.integer(0, default: Int8(0))
    switch format {
    case 0:
      return DimensionEntry(format: .dense(size: Int(try table.integer(1, default: Int32(0)))))
    case 1:
      let segments = try indexVector(table, 3, 2, "segments")
      let indices = try indexVector(table, 5, 4, "indices")
      return DimensionEntry(format: .sparseCSR(segments: segments, indices: indices))
    default:
      throw FormatError("the format \(format) is unknown")
    }
  }

  /// The values of the schema's `SparseIndexVector`, a union of vectors of 32, 16 and 8 bits.
  private mutating func indexVector(
    _ table: FlatBufferTable, _ field: Int, _ typeField: Int, _ what: String
  ) throws(FormatError) -> [Int] {
    guard let union = try table.table(field) else { throw FormatError("there are no \(what)") }
    let type = try table.integer(typeField, default: UInt8(0))
    let elementSize: Int
    switch type {
    case 1: elementSize = 4
    case 2: elementSize = 2
    case 3: elementSize = 1
    default: throw FormatError("the \(what) have the unknown type \(type)")
    }
    guard let values = try vector(union, 0, elementSize, what) else {
      throw FormatError("there are no \(what)")
    }
    // Each value becomes eight bytes.
    try budget.charge(values.count * 4)
    return switch type {
    case 1: try union.reader.map(Int32.self, at: values.start, count: values.count) { Int($0) }
    case 2: try union.reader.map(UInt16.self, at: values.start, count: values.count) { Int($0) }
    default: try union.reader.map(UInt8.self, at: values.start, count: values.count) { Int($0) }
    }
  }

  /// The sizes of the shape's dimensions, divided into blocks, followed by those of the block.
  private func sizes(_ entry: SparsityEntry, _ shape: [Int]) throws(FormatError) -> [Int] {
    let order = entry.traversalOrder
    let rank = shape.count
    guard order.count >= rank, entry.dimensions.count == order.count,
      entry.blockMap.count == order.count - rank
    else {
      throw FormatError(
        "\(order.count) dimensions in order, \(entry.dimensions.count) described and \(entry.blockMap.count) "
          + "in blocks do not fit shape \(shape)")
    }
    guard order[..<rank].sorted().elementsEqual(0..<rank),
      order[rank...].sorted().elementsEqual(rank..<order.count)
    else {
      throw FormatError("the traversal order \(order) is not a permutation")
    }
    var sizes = shape + Array(repeating: 0, count: order.count - rank)
    for (block, mapped) in entry.blockMap.enumerated() {
      guard let level = order.firstIndex(of: rank + block),
        case .dense(let size) = entry.dimensions[level].format, size > 0
      else {
        throw FormatError("block dimension \(block) is not dense or has no size")
      }
      guard (0..<rank).contains(mapped), sizes[mapped].isMultiple(of: size) else {
        throw FormatError("block dimension \(block) of size \(size) does not divide dimension \(mapped)")
      }
      sizes[rank + block] = size
      sizes[mapped] /= size
    }
    return sizes
  }

  /// Walks the levels from the outermost in: each parent needs its segment, each index its dimension.
  private func storedElements(_ entry: SparsityEntry, _ sizes: [Int]) throws(FormatError) -> Int {
    var count = 1
    for (level, dimension) in entry.dimensions.enumerated() {
      let size = sizes[entry.traversalOrder[level]]
      switch dimension.format {
      case .dense(let denseSize):
        let (product, overflow) = count.multipliedReportingOverflow(by: size)
        guard denseSize == size, size >= 0, !overflow, product <= limits.maximumElements else {
          throw FormatError("dimension \(level) has size \(denseSize), not \(size), or too many elements")
        }
        count = product
      case .sparseCSR(let segments, let indices):
        guard segments.count == count + 1, segments.first == 0, segments.last == indices.count else {
          throw FormatError(
            "dimension \(level) has \(segments.count) segments for \(count) parents "
              + "and \(indices.count) indices"
          )
        }
        guard zip(segments, segments.dropFirst()).allSatisfy({ $0 <= $1 }) else {
          throw FormatError("dimension \(level) has segments out of order")
        }
        guard indices.allSatisfy({ (0..<max(size, 0)).contains($0) }) else {
          throw FormatError("dimension \(level) has an index outside its size \(size)")
        }
        count = indices.count
      }
    }
    return count
  }
}
