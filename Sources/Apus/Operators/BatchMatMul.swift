import ApusKernels

/// `BATCH_MATMUL`: products of matrices, the leading dimensions broadcast against each other.
///
/// `…×A×B` times `…×B×C` is `…×A×C`; either may come with its last two dimensions exchanged.
struct BatchMatMul: Operator {
  private let lhs: TensorSlot
  private let rhs: TensorSlot
  private let output: TensorSlot
  private let kernel: any PreparedConvolution
  /// Of each product, which matrix is on either side.
  private let pairs: [(lhs: Int, rhs: Int)]
  private let rows: Int
  private let columns: Int
  private let depth: Int
  private let widths: (lhs: Int, rhs: Int, output: Int)
  /// One for each matrix on the right where they are constant, otherwise one for all.
  private let weights: [PackedWeights]
  private let arePacked: Bool
  private let scratch: TensorSlot
  private let left: TensorSlot?
  private let right: TensorSlot?

  /// More constant matrices than this are packed in each run.
  private static let mostPacked = 64

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    return try BatchMatMul(node)
  }

  private init(_ node: Node) throws(ApusError) {
    lhs = try node.input(0, types: [.float32, .int8, .int16], ranks: 2...5)
    rhs = try node.input(1, types: [.float32, .int8, .int16], ranks: 2...5)
    let (adjointLeft, adjointRight) = (try node.boolOption(0), try node.boolOption(1))
    let rank = max(lhs.shape.rank, rhs.shape.rank)
    let (left, right) = (lhs.shape.extended(toRank: rank), rhs.shape.extended(toRank: rank))
    rows = left[adjointLeft ? rank - 1 : rank - 2]
    depth = left[adjointLeft ? rank - 2 : rank - 1]
    columns = right[adjointRight ? rank - 2 : rank - 1]
    guard depth == right[adjointRight ? rank - 1 : rank - 2] else {
      throw node.malformed("\(lhs.name), \(lhs.shape), does not fit \(rhs.name), \(rhs.shape)")
    }
    var outer: [Int] = []
    for axis in 0..<rank - 2 {
      guard left[axis] == right[axis] || left[axis] == 1 || right[axis] == 1 else {
        throw node.malformed("\(lhs.shape) and \(rhs.shape) differ in dimension \(axis), where neither is 1")
      }
      outer.append(left[axis] == 1 ? right[axis] : left[axis])
    }
    let type: ElementType = lhs.type
    output = try node.output(
      0, shape: TensorShape(outer + [rows, columns]), types: type == .int8 ? [.int8, .int32] : [type])
    pairs = Self.pairs(outer, left, right)
    let rhsCount = right[..<(rank - 2)].reduce(1, *)
    let (operands, epilogue) = try Self.scheme(
      lhs: lhs, rhs: rhs, output: output, columns: columns, node: node)
    guard
      let kernel = node.kernels.prepare(
        Convolution(
          rows: rows, depth: max(depth, 1), columns: max(columns, 1), operands: operands, epilogue: epilogue))
    else { throw node.mismatch(lhs, rhs) }
    self.kernel = kernel
    widths = (lhs.type.byteCount ?? 1, rhs.type.byteCount ?? 1, output.type.byteCount ?? 1)
    self.left = try adjointLeft ? node.scratch(byteCount: rows * depth * widths.lhs) : nil
    self.right = try adjointRight ? nil : node.scratch(byteCount: columns * depth * widths.rhs)
    scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    try node.declare(multiplyAccumulates: Double(output.shape.elementCount) * Double(depth))
    (weights, arePacked) = try Self.pack(
      kernel, rhs: rhs, count: rhsCount, matrix: (columns, depth, widths.rhs), transposes: !adjointRight,
      node: node)
  }

  /// Packs constant matrices, each apart.
  private static func pack(
    _ kernel: any PreparedConvolution, rhs: TensorSlot, count: Int,
    matrix: (columns: Int, depth: Int, width: Int), transposes: Bool, node: Node
  ) throws(ApusError) -> (weights: [PackedWeights], arePacked: Bool) {
    let byteCount = matrix.columns * matrix.depth * matrix.width
    let isWorthwhile = rhs.isConstant && count <= mostPacked && byteCount > 0
    var weights: [PackedWeights] = []
    for index in 0..<(isWorthwhile ? count : 1) {
      let layout = kernel.packing.of(transposes ? "transposed matrix" : "matrix", numbers: [index])
      // A tensor that is not constant makes this memory of each run.
      let made = try node.packedWeights(
        of: [rhs], layout: layout, most: kernel.packedByteCount
      ) { tensors, packed in
        guard isWorthwhile else { return }
        let source = tensors.readBytes(rhs).extracting(index * byteCount..<(index + 1) * byteCount)
        guard transposes else {
          kernel.pack(weights: source, bias: nil, into: packed)
          return
        }
        TensorMemory(byteCount: byteCount).withMutableBytes { bytes in
          ElementRuns.transpose(
            source, rows: matrix.depth, columns: matrix.columns, count: 1, width: matrix.width, into: &bytes)
          kernel.pack(weights: bytes.bytes, bias: nil, into: packed)
        }
      }
      weights.append(made.weights)
    }
    return (weights, isWorthwhile)
  }

  private static func pairs(_ outer: [Int], _ left: [Int], _ right: [Int]) -> [(lhs: Int, rhs: Int)] {
    var pairs = [(lhs: 0, rhs: 0)]
    for axis in outer.indices {
      pairs = pairs.flatMap { pair in
        (0..<outer[axis]).map { index in
          (
            lhs: pair.lhs * left[axis] + (left[axis] == 1 ? 0 : index),
            rhs: pair.rhs * right[axis] + (right[axis] == 1 ? 0 : index)
          )
        }
      }
    }
    return pairs
  }

  private static func scheme(
    lhs: TensorSlot, rhs: TensorSlot, output: TensorSlot, columns: Int, node: Node
  ) throws(ApusError) -> (MatrixOperands, Epilogue) {
    switch (lhs.type, rhs.type) {
    case (.float32, .float32): return (.float32, node.floatEpilogue(.none))
    case (.float32, .int8):
      return (
        .hybrid(isAsymmetric: try node.boolOption(2)),
        try node.hybridEpilogue(.none, filter: rhs, channels: columns, isPerChannel: true)
      )
    case (.int8, .int8) where output.type == .int32:
      return (.int8Sums, .sums)
    case (.int8, .int8), (.int16, .int16), (.int16, .int8): break
    default: throw node.mismatch(lhs, rhs)
    }
    let (lhsScale, lhsZeroPoint) = try node.quantization(of: lhs)
    let (rhsScale, rhsZeroPoint) = try node.quantization(of: rhs)
    let (outputScale, zeroPoint) = try node.quantization(of: output)
    let multiplier = FixedPointMultiplier(Double(lhsScale * rhsScale) / Double(outputScale))
    let range = output.type.integerRange
    if lhs.type == .int8 {
      return (
        .int8(lhsZeroPoint: lhsZeroPoint, rhsZeroPoint: rhsZeroPoint),
        .fixedPoint(
          [multiplier], zeroPoint: zeroPoint, minimum: Int32(range.lowerBound),
          maximum: Int32(range.upperBound))
      )
    }
    for slot in [lhs, rhs, output] { try node.expectNoZeroPoint(slot) }
    return (
      .int16(weightByteCount: rhs.type == .int16 ? 2 : 1, biasByteCount: 8),
      .reducedFixedPoint([multiplier], minimum: Int32(range.lowerBound), maximum: Int32(range.upperBound))
    )
  }

  func invoke(_ tensors: borrowing TensorTable) {
    guard output.shape.elementCount > 0 else { return }
    guard depth > 0 else {
      var result = tensors.writeBytes(output)
      for index in 0..<result.byteCount { result.storeBytes(of: 0, toByteOffset: index, as: UInt8.self) }
      return
    }
    var packed = -1
    for (position, pair) in pairs.enumerated() {
      if !arePacked, packed != pair.rhs {
        pack(pair.rhs, tensors)
        packed = pair.rhs
      }
      multiply(pair.lhs, weights[arePacked ? pair.rhs : 0], position, tensors)
    }
  }

  private func pack(_ index: Int, _ tensors: borrowing TensorTable) {
    let byteCount = columns &* depth &* widths.rhs
    let source = tensors.readBytes(rhs).extracting(index &* byteCount..<(index &+ 1) &* byteCount)
    guard let right else {
      kernel.pack(weights: source, bias: nil, into: weights[0])
      return
    }
    var matrix = tensors.writeBytes(right)
    ElementRuns.transpose(source, rows: depth, columns: columns, count: 1, width: widths.rhs, into: &matrix)
    kernel.pack(weights: matrix.bytes, bias: nil, into: weights[0])
  }

  private func multiply(
    _ index: Int, _ weights: PackedWeights, _ position: Int, _ tensors: borrowing TensorTable
  ) {
    let byteCount = rows &* depth &* widths.lhs
    let start = position &* rows &* columns &* widths.output
    var result = tensors.writeBytes(output, in: start..<start &+ rows &* columns &* widths.output)
    var scratch = tensors.writeBytes(scratch)
    let source = tensors.readBytes(lhs).extracting(index &* byteCount..<(index &+ 1) &* byteCount)
    guard let left else {
      kernel.run(weights, input: source, output: &result, scratch: &scratch, threads: tensors.threads)
      return
    }
    var matrix = tensors.writeBytes(left)
    ElementRuns.transpose(source, rows: depth, columns: rows, count: 1, width: widths.lhs, into: &matrix)
    kernel.run(weights, input: matrix.bytes, output: &result, scratch: &scratch, threads: tensors.threads)
  }
}
