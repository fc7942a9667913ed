// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels
import ApusRuntime

/// `STABLEHLO_GATHER`: blocks of a tensor, each at a vector of coordinates, which is clamped to lie inside.
struct StableHLOGather: Operator {
  /// One coordinate of a vector: how far a block can move along its axis, and by how many elements a step goes.
  private struct Coordinate {
    let last: Int
    let stride: Int
  }

  private let operand: TensorSlot
  private let starts: TensorSlot
  private let output: TensorSlot
  private let batchSizes: [Int]
  /// Elements of the output from one block to the next, and of the coordinates from one vector to the next.
  private let batchStrides: [(output: Int, starts: Int)]
  private let coordinates: [Coordinate]
  private let coordinateStride: Int
  private let copy: StridedCopy

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let operand = try node.input(0)
    let starts = try node.input(1, types: [.int32, .int64])
    guard let width = operand.type.byteCount else {
      throw node.unsupported("\(operand.name) is \(operand.type), which is not supported")
    }
    let rank = operand.shape.rank
    let options = node.options.stablehloGather
    let vectors = try IndexVectors(
      starts, dimension: options.vectorAxis,
      axes: options.indexedAxes, rank: rank, node)
    let sizes = try options.sliceSizes
    guard sizes.count == rank, zip(sizes, operand.shape.dimensions).allSatisfy({ (0...$1).contains($0) })
    else { throw node.malformed("blocks of \(sizes.brief) do not fit \(operand.shape)") }
    let collapsed = try node.axisSet(options.collapsedAxes, rank: rank)
    guard collapsed.allSatisfy({ sizes[$0] > 0 }) else {
      throw node.malformed("blocks of \(sizes.brief) have nothing along the axes \(collapsed.sorted().brief)")
    }
    let kept = (0..<rank).filter { !collapsed.contains($0) }
    let resultRank = vectors.sizes.count + kept.count
    let offsetAxes = try node.axisSet(options.offsetAxes, rank: resultRank)
    guard offsetAxes.count == kept.count else {
      throw node.malformed("\(offsetAxes.count) axes are for blocks with \(kept.count)")
    }
    let batchAxes = (0..<resultRank).filter { !offsetAxes.contains($0) }
    var shape = Array(repeating: 0, count: resultRank)
    for (place, axis) in offsetAxes.sorted().enumerated() { shape[axis] = sizes[kept[place]] }
    for (place, axis) in batchAxes.enumerated() { shape[axis] = vectors.sizes[place] }
    let output = try node.output(0, shape: TensorShape(shape), like: operand)
    try node.requireCountable(shape)
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    try node.check(work: vectors.sizes.reduce(Double(Self.blockSteps)) { $0 * Double($1) })
    let (from, to) = (operand.shape.strides, output.shape.strides)
    guard
      let copy = StridedCopy(
        elementByteCount: width, dimensions: kept.map { sizes[$0] }, sourceStrides: kept.map { from[$0] },
        destinationStrides: offsetAxes.sorted().map { to[$0] })
    else { throw node.malformed("cannot copy blocks of \(sizes.brief)") }
    return StableHLOGather(
      operand: operand, starts: starts, output: output, batchSizes: vectors.sizes,
      batchStrides: batchAxes.indices.map { (to[batchAxes[$0]], vectors.strides[$0]) },
      coordinates: vectors.axes.map { Coordinate(last: operand.shape[$0] - sizes[$0], stride: from[$0]) },
      coordinateStride: vectors.coordinateStride, copy: copy)
  }

  /// About how many steps a block takes beside its copy.
  private static let blockSteps = 32

  func invoke(_ tensors: borrowing TensorTable) {
    let width = operand.type.byteCount ?? 1
    let source = tensors.readBytes(operand)
    var result = tensors.writeBytes(output)
    var poll = StopPoll(tensors.threads)
    for block in 0..<batchSizes.reduce(1, *) {
      if poll.mustStop(before: Self.blockSteps) { return }
      var (rest, target, vector) = (block, 0, 0)
      for axis in batchSizes.indices.reversed() {
        let place = rest % batchSizes[axis]
        rest /= batchSizes[axis]
        target += place * batchStrides[axis].output
        vector += place * batchStrides[axis].starts
      }
      var first = 0
      for (index, coordinate) in coordinates.enumerated() {
        let element = vector + index * coordinateStride
        let start =
          starts.type == .int64
          ? Int(tensors.read(starts, as: Int64.self)[element])
          : Int(tensors.read(starts, as: Int32.self)[element])
        first += min(max(start, 0), coordinate.last) * coordinate.stride
      }
      copy.run(
        source.extracting(droppingFirst: first * width), to: &result, shift: target * width,
        threads: tensors.threads)
    }
  }
}
