// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// An operator that only moves elements: it fills its outputs where needed, then copies along strides.
final class DataMovement: Operator {
  /// The value of an output's elements to which nothing is copied.
  enum Filling: Sendable {
    /// The low bytes of a number.
    case value(Int64)
    /// The first element of another input.
    case element(TensorSlot)
    /// All elements of another input, which has the output's shape.
    case tensor(TensorSlot)
  }

  /// One copy from an input to an output; an operator itself, if there is nothing else to do.
  final class Step: Operator, Sendable {
    let source: TensorSlot
    let destination: TensorSlot
    let copy: StridedCopy

    init(source: TensorSlot, destination: TensorSlot, copy: StridedCopy) {
      self.source = source
      self.destination = destination
      self.copy = copy
    }

    var implementation: Implementation {
      var implementation = Implementation.plain
      guard let choice = copy.choice else { return implementation }
      if choice.set != KernelSet.portable.name {
        implementation.text = "generated transposition of sixteen rows at a time"
      }
      implementation.choice = choice
      return implementation
    }

    func invoke(_ tensors: borrowing TensorTable) {
      var destination = tensors.writeBytes(destination)
      copy.run(tensors.readBytes(source), to: &destination, threads: tensors.threads)
    }

    /// Copies some rows.
    func run(rows: Range<Int>, _ tensors: borrowing TensorTable) {
      var destination = tensors.writeBytes(destination)
      copy.run(tensors.readBytes(source), rows: rows, to: &destination)
    }
  }

  private let filling: (slot: TensorSlot, with: Filling)?
  /// Fills only where nothing else is copied; without these, the whole output is filled first.
  private let rim: [StridedCopy]
  private let steps: [Step]
  /// If several steps copy equally many narrow rows: their number, and the bytes of one row of all steps.
  private let rows: (count: Int, byteCount: Int)?
  /// How many bytes are copied before the next step, so that they stay in the first-level cache.
  private static let blockByteCount = 1 << 14
  /// Wider rows are copied faster one step at a time.
  private static let narrowByteCount = 64

  init(filling: (slot: TensorSlot, with: Filling)? = nil, rim: [StridedCopy] = [], _ steps: [Step]) {
    self.filling = filling
    self.rim = rim
    self.steps = steps
    rows =
      if steps.count > 1, let count = steps[0].copy.rowCount,
        steps.allSatisfy({ $0.copy.rowCount == count && $0.copy.rowByteCount <= Self.narrowByteCount })
      {
        (count, steps.reduce(0) { $0 + $1.copy.rowByteCount })
      } else {
        nil
      }
  }

  var implementation: Implementation {
    steps.first { $0.copy.choice != nil }?.implementation ?? .plain
  }

  func invoke(_ tensors: borrowing TensorTable) {
    if let filling {
      var destination = tensors.writeBytes(filling.slot)
      let width = filling.slot.type.byteCount ?? 1
      switch filling.with {
      case .value(let value) where !rim.isEmpty:
        withElement(value, width: width) { element in
          for copy in rim { copy.run(element, to: &destination, threads: tensors.threads) }
        }
      case .value(let value):
        fillElements(&destination, with: value, width: width, threads: tensors.threads)
      case .element(let slot):
        fillElements(
          &destination, with: tensors.readBytes(slot).extracting(first: width), threads: tensors.threads)
      case .tensor(let slot):
        copyBytes(tensors.readBytes(slot), to: &destination, threads: tensors.threads)
      }
      // The first touch of pages that were not filled takes longer than copies count.
      if tensors.threads.mustStop { return }
    }
    if let rows {
      let tiles = tensors.threads.tileCount(rows: rows.count, bytes: rows.count &* rows.byteCount, alone: 1)
      guard tiles > 1 else { return run(rows: 0..<rows.count, byteCount: rows.byteCount, tensors) }
      return tensors.forEachTile(tiles, RowTiles(movement: self, rows: rows, tiles: tiles))
    }
    // By index: an iterator would count references to each.
    for index in steps.indices { steps[index].invoke(tensors) }
  }

  /// Copies some narrow rows of all steps, a few of each in turn.
  fileprivate func run(rows: Range<Int>, byteCount: Int, _ tensors: borrowing TensorTable) {
    let length = max(1, Self.blockByteCount / max(1, byteCount))
    var first = rows.lowerBound
    while first < rows.upperBound {
      let end = min(first &+ length, rows.upperBound)
      for index in steps.indices { steps[index].run(rows: first..<end, tensors) }
      first = end
    }
  }
}

/// The narrow rows of all steps, shared by several threads.
private struct RowTiles: TableWork {
  let movement: DataMovement
  let rows: (count: Int, byteCount: Int)
  let tiles: Int

  func run(tile: Int, _ tensors: borrowing TensorTable) {
    let first = rows.count &* tile / tiles
    let last = rows.count &* (tile &+ 1) / tiles
    movement.run(rows: first..<last, byteCount: rows.byteCount, tensors)
  }
}

extension Node {
  /// Copies one value to all elements of `destination` around a block of `dimensions` that begins at `offsets`; or to
  /// all elements, if rows have a few elements of padding each.
  func rim(
    _ destination: TensorSlot, around dimensions: [Int], at offsets: [Int]
  ) throws(ApusError) -> [StridedCopy] {
    var copies: [StridedCopy] = []
    let (shape, strides) = (destination.shape.dimensions, destination.shape.strides)
    var (dimensions, offsets) = (dimensions, offsets)
    if let last = dimensions.last, last != shape.last {
      dimensions = Array(repeating: 0, count: shape.count)
      offsets = dimensions
    }
    // Before and after the block along each axis: inside it along earlier axes, everything along later ones.
    for axis in shape.indices {
      let end = offsets[axis] + dimensions[axis]
      for part in [0..<offsets[axis], end..<shape[axis]] where !part.isEmpty {
        let firsts = offsets[..<axis] + [part.lowerBound]
        guard let width = destination.type.byteCount,
          let copy = StridedCopy(
            elementByteCount: width, dimensions: dimensions[..<axis] + [part.count] + shape[(axis + 1)...],
            sourceStrides: Array(repeating: 0, count: shape.count), destinationStrides: strides,
            destinationOffset: zip(firsts, strides).reduce(0) { $0 + $1.0 * $1.1 })
        else { throw malformed("cannot fill \(destination.name), \(destination.shape)") }
        copies.append(copy)
      }
    }
    return copies
  }

  /// One copy of a block of `dimensions`, strides and offsets in elements, checked against both tensors.
  func move(
    _ dimensions: [Int], from source: TensorSlot, strides sourceStrides: [Int], offset sourceOffset: Int = 0,
    to destination: TensorSlot, strides destinationStrides: [Int], at destinationOffset: Int = 0
  ) throws(ApusError) -> DataMovement.Step {
    guard let width = source.type.byteCount, width == destination.type.byteCount,
      let copy = StridedCopy(
        elementByteCount: width, dimensions: dimensions, sourceStrides: sourceStrides,
        sourceOffset: sourceOffset, destinationStrides: destinationStrides,
        destinationOffset: destinationOffset, using: kernels)
    else { throw malformed("cannot copy \(TensorShape(dimensions)) elements of \(source.name)") }
    try keepCopies(1)
    return DataMovement.Step(source: source, destination: destination, copy: copy)
  }

  /// About what a plan keeps of a copy.
  private static let copyByteCount = 512

  /// Counts the memory that the plan keeps for `count` copies; an operator may have thousands.
  func keepCopies(_ count: Int) throws(ApusError) {
    try keep(tablesOf: count, entryByteCount: Self.copyByteCount)
  }

  /// Refuses more copies than there is memory for, before the first is made.
  func needCopies(_ count: Int) throws(ApusError) {
    try need(arraysOf: count, entryByteCount: Self.copyByteCount)
  }

  /// Scratch memory for `count` elements of `width` bytes.
  func scratch(count: Int, width: Int) throws(ApusError) -> TensorSlot {
    let (byteCount, overflow) = count.multipliedReportingOverflow(by: width)
    return try scratch(byteCount: overflow ? .max : byteCount)
  }

  /// An axis as an index below `rank`; negative ones count from the end.
  func axis(_ axis: Int, rank: Int) throws(ApusError) -> Int {
    let index = axis < 0 ? axis + rank : axis
    guard (0..<rank).contains(index) else {
      throw malformed("axis \(axis) is outside a tensor of rank \(rank)")
    }
    return index
  }

  /// The one integer that a tensor holds.
  func integer(of slot: TensorSlot) throws(ApusError) -> Int {
    guard slot.shape.elementCount == 1, let value = try integers(of: slot).first else {
      throw malformed("\(slot.name) has \(slot.shape.elementCount) values, not 1")
    }
    return value
  }

  /// Throws unless the integers of both tensors represent the same real numbers.
  ///
  /// As in the reference, a tensor with several scales counts as one without any.
  func expectSameQuantization(_ input: TensorSlot, _ output: TensorSlot) throws(ApusError) {
    func pair(_ slot: TensorSlot) -> (scale: Float, zeroPoint: Int) {
      guard let parameters = slot.quantization, parameters.scales.count == 1 else { return (0, 0) }
      return (parameters.scales[0], parameters.zeroPoints.first ?? 0)
    }
    guard pair(input) == pair(output) else {
      throw malformed("\(input.name) and \(output.name) differ in scale or zero point, which must be equal")
    }
  }
}

extension TensorShape {
  /// For each axis: the distance of neighbors along it, in elements.
  var strides: [Int] {
    var strides = Array(repeating: 1, count: rank)
    for axis in dimensions.indices.dropLast().reversed() {
      strides[axis] = strides[axis + 1] &* max(dimensions[axis + 1], 1)
    }
    return strides
  }
}

extension ElementType {
  /// Types with elements of fixed width, except `complex128`: those that the reference moves without reading
  /// them.
  static let movable: [ElementType] = [
    .float32, .float16, .bfloat16, .float64, .int4, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64,
    .uint64,
    .bool, .complex64,
  ]

  /// As ``movable``, and the types that the reference supports if elements stay in place.
  static let reshapable = movable + [.int2, .uint4, .complex128]

  /// As ``movable``, without types of less than a byte.
  static let movableBytes = movable.filter { $0 != .int4 }
}
