// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

extension X86Target: CodeTarget {
  var name: String { self == .avx512 ? "x86 avx512" : "x86 avx2" }
  var maximumVectors: Int { self == .avx512 ? 4 : 2 }
  func maximumVectors(_ product: ProductKind) -> Int {
    product == .bfloat16Tiles ? X86Tiles.maximumVectors : maximumVectors
  }
  /// Four interleaved taps of bytes fill four vectors; two of `int16` fill two.
  func depthwiseVectors(_ product: ProductKind) -> Int { self == .avx2 || product == .words ? 2 : 4 }
  var hasFunctionsForFewRows: Bool { true }
  var hasRowTerms: Bool { true }
  var fetchesAhead: Bool { true }

  func maximumRows(_ product: ProductKind, vectorCount: Int) -> Int {
    if product == .bfloat16Tiles { return X86Tiles.maximumRows }
    return switch (self, vectorCount) {
    case (.avx512, 4): 6
    case (.avx512, 3): 8
    case (.avx512, 2): 12
    case (.avx512, _): 14
    case (.avx2, 2): 6
    case (.avx2, _): 12
    }
  }

  func maximumInnerRows(columnCount: Int) -> Int? {
    // Beside the accumulators, registers hold the weights of a K-step, a vector of a row and, with AVX2, a
    // mask.
    columnCount > 4 ? nil : min(12, ((self == .avx512 ? 31 : 14) - columnCount) / columnCount)
  }

  /// Narrowing vectors of 32-bit lanes interleaves them by quarters of 128 bits. This order of columns makes
  /// the bytes come out sorted, unless the epilogue sorts them itself.
  func byteColumns(vectorCount: Int) -> LaneOrder {
    self == .avx512 && vectorCount < 4
      ? LaneOrder(count: vectorCount * lanes) : LaneOrder(quartersOf: vectorCount, lanes: lanes)
  }

  func maximumOverlappingRows(
    _ steps: ProductSteps, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue
  ) throws(Decline) -> [Int] {
    guard self == .avx512 else { throw Decline("16 registers are too few for the sums of two blocks") }
    let outputs = X86EpilogueGenerator.Outputs(operands, epilogue, isPerRow: false)
    guard outputs.shiftsRight || outputs.isSingle else { throw Decline("outputs are rescaled step by step") }
    return try X86OverlappingProductGenerator.maximumRows(steps)
  }

  func rate(_ product: ProductKind) -> Double {
    switch product {
    case .floats, .bfloat16AsFloats: 48
    case .bfloat16: 96
    case .bfloat16Tiles: 256
    case .words: 64
    case .unsignedBytes, .signedBytes: self == .avx512 ? 160 : 96
    }
  }

  var weightBounds: ClosedRange<Int32> { -128...127 }
  var activationOffset: Int32 { 0 }
  func gathered(_ product: ProductKind) -> ProductKind {
    product == .signedBytes ? .unsignedBytes : product
  }
  var pipes: VectorPipes {
    VectorPipes(
      areShared: self == .avx512 && CPUFeatures.current.contains(.twoWidePipes),
      areFullWidth: self == .avx512 && CPUFeatures.current.contains(.fullWidth),
      // Intel's processors take at least as long for a pair of bfloat16 as for two floats.
      multiplyBFloat16: self == .avx512 && CPUFeatures.current.contains(.avx512BF16)
        && !CPUFeatures.current.contains(.twoWidePipes),
      haveTiles: self == .avx512 && CPUFeatures.current.contains(.tiles))
  }
  func sumLimit(_ epilogue: LoweredEpilogue) -> Int? {
    switch epilogue {
    case .stated(.fixedPoint(let multipliers, _, _, _)):
      return X86EpilogueGenerator.shiftRight(multipliers) ? X86EpilogueGenerator.sumLimit : nil
    case .singlePrecision(let factors, _, _, _): return X86EpilogueGenerator.singlePrecisionSumLimit(factors)
    default: return nil
    }
  }

  var minimumShift: Int32? { X86EpilogueGenerator.minimumShift }

  func requireCode(for epilogue: LoweredEpilogue) throws(Decline) {
    switch epilogue {
    case .stated(.float32), .stated(.float64), .stated(.hybrid), .stated(.fixedPoint), .singlePrecision,
      .anySum:
      return
    default: throw Decline("there is no generated code for \(epilogue.name)")
    }
  }

  func epilogueText(_ operands: MatrixOperands, _ epilogue: LoweredEpilogue) -> String {
    let outputs = X86EpilogueGenerator.Outputs(operands, epilogue, isPerRow: false)
    switch epilogue {
    case .stated(.fixedPoint), .anySum: break
    default: return epilogue.name
    }
    return outputs.isRectified
      ? "outputs in fixed point, right shifts only, ReLU folded"
      : outputs.shiftsRight
        ? "outputs in fixed point, right shifts only" : "outputs in fixed point, step by step"
  }

  func simplified(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int
  ) throws(Decline) -> LoweredEpilogue? {
    guard case .fixedPoint = epilogue else { return nil }
    return try SinglePrecisionFactor.epilogue(
      epilogue, faint: faint, outputsPerChannel: outputsPerChannel, depth: depth, cutsOff: self == .avx512)
  }

  func bfloat16Order(_ convolution: Convolution, _ pipes: VectorPipes) throws(Decline) -> BFloat16Order {
    guard pipes.haveTiles else { throw Decline("the machine or the kernel set has no tile registers") }
    let order = try convolution.bfloat16Parts()
    try X86Tiles.requireDefinedSums()
    return order
  }

  func bfloat16(
    _ order: BFloat16Order, _ pipes: VectorPipes
  ) throws(Decline) -> (product: ProductKind, declined: Decline?) {
    if order != .pairs {
      guard pipes.haveTiles else { throw Decline("sums in parts have code for tile registers only") }
      try X86Tiles.requireDefinedSums()
      return (.bfloat16Tiles, nil)
    }
    do throws(Decline) {
      guard CPUFeatures.current.contains(.avx512BF16), self == .avx512 else {
        throw Decline("vdpbf16ps: the machine or the kernel set has no AVX-512 BF16")
      }
      guard pipes.multiplyBFloat16 else {
        throw Decline("vdpbf16ps: on this processor two multiplications of floats take less time")
      }
      try X86BFloat16Check.requireDefinedSums()
      return (.bfloat16, nil)
    } catch { return (.bfloat16AsFloats, error) }
  }
  func rounding(toFloats isWide: Bool) throws(Decline) -> RoundingCode {
    let code = try unsafe RoundingCode(X86RoundingGenerator(isWide: isWide))
    ExecutableMemory.seal()
    return code
  }
  func flipping() throws(Decline) -> FlippingCode {
    try unsafe FlippingCode(X86FlippingGenerator(target: self))
  }
  func widening(isSigned: Bool) throws(Decline) -> WideningCode {
    let code = try unsafe WideningCode(X86WideningGenerator(isSigned: isSigned))
    ExecutableMemory.seal()
    return code
  }

  var factorByteCount: Int { X86FactorLayout(self).byteCount }

  func fillFactors(
    _ blocks: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue,
    blockCount: Int, lanes: (_ block: Int) -> ChannelLanes
  ) {
    let layout = X86FactorLayout(self)
    let outputs = X86EpilogueGenerator.Outputs(operands, epilogue, isPerRow: false)
    for block in 0..<blockCount {
      unsafe layout.fill(
        blocks + block * layout.byteCount, epilogue: epilogue, outputs: outputs, lanes: lanes(block))
    }
  }

  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator {
    let outputs = X86EpilogueGenerator.Outputs(operands, epilogue, isPerRow: shape.isPerRow)
    if let steps = shape.overlapping {
      return X86OverlappingProductGenerator(
        product: product, epilogue: outputs, rowCount: shape.rowCount, vectorCount: shape.vectorCount,
        columnCount: shape.columnCount, steps: steps)
    }
    if let pairs = shape.tilePairs {
      return X86TileProductGenerator(shape: shape, pairs: pairs)
    }
    return X86ProductGenerator(target: self, product: product, epilogue: outputs, shape: shape)
  }

  func depthwiseGenerator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator {
    X86DepthwiseGenerator(
      target: self, product: product, epilogue: .init(operands, epilogue, isPerRow: false),
      pixelCount: shape.rowCount, channelCount: shape.columnCount)
  }

  var depthwiseRows: (any DepthwiseRowCode)? { X86DepthwiseRows(target: self) }
  var winograd: (any WinogradCode)? { X86Winograd(target: self) }
}
