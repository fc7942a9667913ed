// SPDX-License-Identifier: Apache-2.0

/// `STRIDED_SLICE`: along each axis the elements from a begin to an end with a stride, like Python's slices.
///
/// Masks open the begin or the end of an axis, let several axes pass whole (ellipsis), add an axis of size 1,
/// or take one element and drop the axis.
enum StridedSlice {
  /// The range that is taken along one axis of the input, or of a new one.
  private struct Span {
    var begin = 0
    var stride = 1
    var count = 1
    /// The axis of the input; nil for a new one.
    var axis: Int?
    var isDropped = false
  }

  /// The masks, and the values of begin, end and stride.
  private struct Specification {
    let begins: [Int]
    let ends: [Int]
    let strides: [Int]
    let beginMask: Int
    let endMask: Int
    let ellipsisMask: Int
    let newAxisMask: Int
    let shrinkMask: Int
    let isOffset: Bool

    init(_ node: Node) throws(ApusError) {
      begins = try node.integers(of: node.input(1, types: [.int32], rank: 1))
      ends = try node.integers(of: node.input(2, types: [.int32], rank: 1))
      strides = try node.integers(of: node.input(3, types: [.int32], rank: 1))
      guard begins.count == ends.count, begins.count == strides.count, begins.count <= 31 else {
        throw node.malformed(
          "\(begins.count) begins, \(ends.count) ends and \(strides.count) strides, not up to 31 of each"
        )
      }
      let options = node.options.stridedSlice
      beginMask = try options.beginMask
      endMask = try options.endMask
      ellipsisMask = try options.ellipsisMask
      newAxisMask = try options.newAxisMask
      shrinkMask = try options.shrinkMask
      isOffset = try options.isOffset
    }
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 4...4)
    let input = try node.input(0, ranks: 0...31)
    let spans = try spans(of: input, Specification(node), node)
    let kept = spans.filter { !$0.isDropped }
    let shape = TensorShape(kept.map(\.count))
    if shape.elementCount == input.shape.elementCount, spans.allSatisfy({ $0.stride > 0 || $0.count == 1 }) {
      return try node.view(0, of: input, shape: shape)
    }
    let output = try node.output(0, shape: shape, like: input)
    guard shape.elementCount > 0 else { return DataMovement([]) }
    let strides = input.shape.strides
    var offset = 0
    for span in spans {
      if let axis = span.axis { offset += span.begin * strides[axis] }
    }
    return try node.move(
      shape.dimensions, from: input,
      strides: kept.map { span in span.count > 1 ? span.stride * strides[span.axis ?? 0] : 0 },
      offset: offset,
      to: output, strides: shape.strides)
  }

  /// One span for each axis of the input and for each new one.
  private static func spans(
    of input: TensorSlot, _ specification: Specification, _ node: Node
  ) throws(ApusError) -> [Span] {
    let count = specification.begins.count
    let rank = input.shape.rank
    let added = (0..<count).filter {
      specification.newAxisMask >> $0 & 1 == 1 && specification.ellipsisMask >> $0 & 1 == 0
    }.count
    var spans: [Span] = []
    var axis = 0
    for position in 0..<count {
      if specification.ellipsisMask >> position & 1 == 1 {
        // At least one axis; later entries keep theirs.
        let whole = max(1, 1 + added + rank - count)
        for _ in 0..<whole where axis < rank {
          spans.append(Span(count: input.shape[axis], axis: axis))
          axis += 1
        }
      } else if specification.newAxisMask >> position & 1 == 1 {
        spans.append(Span())
      } else {
        guard axis < rank else {
          guard spans.count == rank + added else {
            throw node.malformed("\(count) begins are too many for \(input.name), \(input.shape)")
          }
          // As in the reference, numbers beyond the last axis have no meaning.
          break
        }
        spans.append(try span(of: input, axis: axis, position, specification, node))
        axis += 1
      }
    }
    while axis < rank {
      spans.append(Span(count: input.shape[axis], axis: axis))
      axis += 1
    }
    return spans
  }

  private static func span(
    of input: TensorSlot, axis: Int, _ position: Int, _ specification: Specification, _ node: Node
  ) throws(ApusError) -> Span {
    let size = input.shape[axis]
    let stride = specification.strides[position]
    guard stride != 0, stride > Int(Int32.min) else {
      throw node.malformed("the stride \(stride) of axis \(axis) is not possible")
    }
    /// A coordinate, counted from the end if negative, clamped to the axis.
    func clamped(_ coordinate: Int) -> Int {
      let index = coordinate < 0 ? coordinate + size : coordinate
      return stride > 0 ? min(max(index, 0), size) : min(max(index, -1), size - 1)
    }
    var begin = clamped(specification.begins[position])
    if specification.beginMask >> position & 1 == 1 { begin = stride > 0 ? 0 : size - 1 }
    if specification.shrinkMask >> position & 1 == 1 {
      guard (0..<size).contains(begin) else {
        throw node.malformed(
          "index \(specification.begins[position]) is outside axis \(axis) of \(input.shape)")
      }
      return Span(begin: begin, axis: axis, isDropped: true)
    }
    var end = clamped(specification.ends[position] + (specification.isOffset ? begin : 0))
    if specification.endMask >> position & 1 == 1 { end = stride > 0 ? size : -1 }
    let distance = stride > 0 ? end - begin : begin - end
    let count = distance <= 0 ? 0 : (distance - 1) / abs(stride) + 1
    return Span(begin: begin, stride: stride, count: count, axis: axis)
  }
}
