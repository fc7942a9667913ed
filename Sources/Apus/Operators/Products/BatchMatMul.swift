// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// `BATCH_MATMUL`: products of matrices, the leading dimensions broadcast against each other.
///
/// `…×A×B` times `…×B×C` is `…×A×C`; either may come with its last two dimensions exchanged.
struct BatchMatMul: UnpackedOperator {
  /// The operands of the products, which may have changed places.
  private let lhs: TensorSlot
  private let rhs: TensorSlot
  private let output: TensorSlot
  private let products: ProductBatch
  /// The kernel for products of few rows with matrices that are not packed; nil for others.
  private let thin: ThinProducts?
  /// How that kernel was chosen; nil if only other operands can have one.
  private let thinChoice: KernelChoice?
  private let isEmpty: Bool
  /// Whether the operands have changed places.
  private let isExchanged: Bool
  private let kernel: any PreparedConvolution
  private let choice: KernelChoice
  /// How many right-hand matrices are packed at once: all of them if they are constant.
  private let packedCount: Int
  /// How right-hand matrices lie in the tensor.
  private let form: String
  /// One for each right-hand matrix if they are constant, otherwise memory for those of a run.
  private var weights: [PackedWeights] = []
  private let arePacked: Bool
  private let scratch: TensorSlot

  /// If there are more constant matrices, they are packed in each run.
  private static let maximumPacked = 64

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    return try BatchMatMul(node) ?? DataMovement([])
  }

  /// Reads and checks the tensors; nil if products have no elements. There may be any number of such
  /// products.
  private init?(_ node: Node) throws(ApusError) {
    let lhs = try node.input(0, types: [.float32, .int8, .int16], ranks: 2...5)
    let rhs = try node.input(1, types: [.float32, .int8, .int16], ranks: 2...5)
    let options = node.options.batchMatMul
    let (adjointLeft, adjointRight) = (try options.transposesLeft, try options.transposesRight)
    let rank = max(lhs.shape.rank, rhs.shape.rank)
    let (left, right) = (lhs.shape.extended(toRank: rank), rhs.shape.extended(toRank: rank))
    let rows = left[adjointLeft ? rank - 1 : rank - 2]
    let depth = left[adjointLeft ? rank - 2 : rank - 1]
    let columns = right[adjointRight ? rank - 2 : rank - 1]
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
    let (operands, epilogue) = try Self.scheme(
      lhs: lhs, rhs: rhs, output: output, columns: columns, node: node)
    guard output.shape.elementCount > 0 else { return nil }
    // A row times the rows of a matrix is that matrix times a column, which needs no packed matrix.
    isExchanged =
      operands == .float32 && rows == 1 && columns > 1 && adjointRight && !rhs.isConstant && !lhs.isConstant
    self.lhs = isExchanged ? rhs : lhs
    self.rhs = isExchanged ? lhs : rhs
    let sides = (Array(left[..<(rank - 2)]), Array(right[..<(rank - 2)]))
    let pairs =
      isExchanged ? MatrixPairs(lhs: sides.1, rhs: sides.0) : MatrixPairs(lhs: sides.0, rhs: sides.1)
    let (productRows, productColumns) = isExchanged ? (columns, rows) : (rows, columns)
    var convolution = Convolution(
      rows: productRows, depth: max(depth, 1), columns: max(productColumns, 1), operands: operands,
      epilogue: epilogue)
    let count = right[..<(rank - 2)].reduce(1, *)
    arePacked = rhs.isConstant && count <= Self.maximumPacked && rhs.shape.elementCount > 0
    convolution.hasTransientWeights = !arePacked
    let (kernel, choice) = try node.kernel(for: convolution, lhs, rhs)
    isEmpty = depth == 0
    products = ProductBatch(
      kernel,
      ProductBatch.Shape(
        rows: productRows, depth: depth, outputs: productColumns,
        widths: (lhs.type.byteCount ?? 1, rhs.type.byteCount ?? 1, output.type.byteCount ?? 1)),
      pairs: pairs,
      isLhsTransposed: adjointLeft && !isExchanged, isRhsTransposed: !adjointRight)
    if operands == .float32, !rhs.isConstant, !adjointRight, !adjointLeft || rows == 1 {
      let chosen = node.kernels.choose(otherwise: nil as ThinProducts?) { set throws(Decline) in
        try ThinProducts(rows: rows, depth: depth, columns: columns, pairs: pairs, using: set)
      }
      (thin, thinChoice) = (chosen.kernel, chosen.choice)
    } else {
      (thin, thinChoice) = (nil, nil)
    }
    scratch = try node.scratch(
      byteCount: thin == nil ? products.scratchByteCount(threads: node.threadCount) : 0)
    try node.declare(multiplyAccumulates: Double(output.shape.elementCount) * Double(depth))
    self.kernel = kernel
    self.choice = choice
    packedCount = arePacked ? count : products.packedCount(threads: node.threadCount)
    form = adjointRight ? "matrix" : "transposed matrix"
  }

  var unpacked: (any UnpackedOperator)? { thin == nil ? self : nil }

  var implementation: Implementation {
    if let thin, let thinChoice { return Implementation(text: thin.implementation, choice: thinChoice) }
    return Implementation(
      text: kernel.implementation, choice: choice,
      notes: kernel.notes(weights.first) + (thinChoice?.notes(on: "matrices are packed") ?? []))
  }

  var summation: String? { thin?.summation ?? kernel.summation.map { isExchanged ? "exchanged, \($0)" : $0 } }

  /// Packs constant matrices one by one, or reserves memory for others.
  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator {
    var copy = self
    packer.expectedByteCount = packedCount * roundedUp(kernel.packedByteCount, to: TensorMemory.alignment)
    for index in 0..<packedCount {
      guard arePacked else {
        copy.weights.append(try packer.weightsOfRuns(byteCount: kernel.packedByteCount))
        continue
      }
      let made = try packer.weights(
        of: [rhs], layout: kernel.packing.of(form, numbers: [index]), most: kernel.packedByteCount
      ) { lease, packed throws(ApusError) in
        let matrices = try lease.bytes(of: rhs)
        try TensorMemory(byteCount: products.scratchByteCount(threads: 1)).withMutableBytes { scratch in
          products.pack(index, of: matrices, into: packed, scratch: &scratch)
        }
      }
      copy.weights.append(made.weights)
    }
    return copy
  }

  private static func scheme(
    lhs: TensorSlot, rhs: TensorSlot, output: TensorSlot, columns: Int, node: Node
  ) throws(ApusError) -> (MatrixOperands, Epilogue) {
    switch try node.layerTypes(.matrices, lhs, rhs).arithmetic {
    case .floats: return (.float32, node.openEpilogue)
    case .hybrid:
      return (
        .hybrid(isAsymmetric: try node.options.batchMatMul.isAsymmetric),
        try node.hybridEpilogue(
          .none, filter: rhs, channels: columns, isPerChannel: true, isOpen: true)
      )
    case .signed where output.type == .int32: return (.int8Sums, .sums)
    case .signed, .unsigned, .words: break
    }
    let (lhsScale, lhsZeroPoint) = try node.quantization(of: lhs)
    let (rhsScale, rhsZeroPoint) = try weightQuantization(rhs, node)
    let (outputScale, zeroPoint) = try node.quantization(of: output)
    let multiplier = FixedPointMultiplier(ScaleFactor.mixed(lhsScale, rhsScale, over: outputScale))
    let range = output.type.integerRange
    if lhs.type == .int8 {
      return (
        .int8(lhsZeroPoint: lhsZeroPoint, rhsZeroPoint: rhsZeroPoint),
        .fixedPoint(
          [multiplier], zeroPoint: zeroPoint, minimum: Int32(range.lowerBound),
          maximum: Int32(range.upperBound))
      )
    }
    for slot in [lhs, output] { try node.requireNoZeroPoint(slot) }
    guard rhsZeroPoint == 0 else {
      throw node.malformed("\(rhs.name) has the zero point \(rhsZeroPoint), not 0")
    }
    return (
      .int16(weightByteCount: rhs.type == .int16 ? 2 : 1, biasByteCount: 8),
      .reducedFixedPoint([multiplier], minimum: Int32(range.lowerBound), maximum: Int32(range.upperBound))
    )
  }

  /// The scale and zero point that the reference takes integer products with.
  ///
  /// It supports no scales per channel there, which LiteRT's converter writes for constant weights. If there are several, it
  /// uses a scale and a zero point of zero, so that all outputs are the output's zero point.
  private static func weightQuantization(
    _ rhs: TensorSlot, _ node: Node
  ) throws(ApusError) -> (scale: Float, zeroPoint: Int32) {
    try node.checkedQuantization(of: rhs).scaleCount > 1 ? (0, 0) : try node.quantization(of: rhs)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    guard !isEmpty else {
      for index in 0..<result.byteCount { result.storeBytes(of: 0, toByteOffset: index, as: UInt8.self) }
      return
    }
    if let thin {
      return thin.run(
        lhs: tensors.readBytes(lhs), rhs: tensors.readBytes(rhs), output: &result, threads: tensors.threads)
    }
    var scratch = tensors.writeBytes(scratch)
    products.run(
      lhs: tensors.readBytes(lhs), rhs: tensors.readBytes(rhs), weights: weights, arePacked: arePacked,
      output: &result, scratch: &scratch, threads: tensors.threads)
  }
}
