// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// An arm64 target, by its vector instructions.
package enum Arm64Target: Hashable, Sendable {
  /// With DotProd of Armv8.2: products of four bytes at once.
  case dotProduct
  /// Without DotProd.
  case neon
}

extension Arm64Target: CodeTarget {
  var name: String { self == .dotProduct ? "arm64 dot" : "arm64 neon" }
  var lanes: Int { 4 }
  var maximumVectors: Int { 4 }
  func depthwiseVectors(_ product: ProductKind) -> Int { 4 }
  var hasFunctionsForFewRows: Bool { false }

  func maximumRows(_ product: ProductKind, vectorCount: Int) -> Int {
    Arm64ProductGenerator.maximumRows(self, product, vectorCount: vectorCount)
  }

  func byteColumns(vectorCount: Int) -> LaneOrder { LaneOrder(count: vectorCount * lanes) }

  /// Without DotProd two products are added in 16 bits: 2·128·127 < 2¹⁵.
  var weightBounds: ClosedRange<Int32> { self == .dotProduct ? -128...127 : -127...127 }
  /// Both factors are signed.
  var activationOffset: Int32 { 128 }
  func gathered(_ product: ProductKind) -> ProductKind { product }
  func rate(_ product: ProductKind) -> Double { 32 }
  var pipes: VectorPipes { VectorPipes(areShared: false, areFullWidth: false) }
  var fetchesAhead: Bool { false }

  // The epilogue is exact for any sum and any factor, and none is faster.
  func sumLimit(_ epilogue: LoweredEpilogue) -> Int? { nil }
  func simplified(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int
  ) throws(Decline) -> LoweredEpilogue? { nil }
  func epilogueText(_ operands: MatrixOperands, _ epilogue: LoweredEpilogue) -> String { epilogue.name }
  var minimumShift: Int32? { nil }

  func requireCode(for epilogue: LoweredEpilogue) throws(Decline) {
    switch epilogue {
    case .stated(.float32): return
    case .stated(.fixedPoint(let multipliers, _, _, _)):
      if let channel = multipliers.firstIndex(where: { $0.value == .min || $0.shift <= -32 }) {
        throw .unusable(multipliers[channel], channel, "are above −1 and shift right by less than 32 bits")
      }
    case .stated(.float64(let scales, _, _, _)):
      if let channel = scales.firstIndex(where: { !$0.isFinite }) {
        let scale = scales[channel]
        throw Decline("the factor of channel \(channel), \(scale), is not finite")
      }
    default: throw Decline("there is no generated code for \(epilogue.name)")
    }
  }

  // Abilities that only x86 targets have.
  func maximumInnerRows(columnCount: Int) -> Int? { nil }
  func maximumOverlappingRows(
    _ steps: ProductSteps, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue
  ) throws(Decline) -> [Int] { throw Decline("the target has no such code") }
  var depthwiseRows: (any DepthwiseRowCode)? { nil }
  var winograd: (any WinogradCode)? { nil }

  package var factorByteCount: Int { Arm64FactorLayout.byteCount }

  func fillFactors(
    _ blocks: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue,
    blockCount: Int, lanes: (_ block: Int) -> ChannelLanes
  ) {
    for block in 0..<blockCount {
      unsafe Arm64FactorLayout.fill(blocks + block * factorByteCount, epilogue, lanes(block))
    }
  }

  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator {
    Arm64ProductGenerator(target: self, product: product, end: .init(operands, epilogue, shape))
  }

  func depthwiseGenerator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator {
    Arm64DepthwiseGenerator(target: self, product: product, end: .init(operands, epilogue, shape))
  }
}

extension Arm64EpilogueGenerator {
  /// The epilogue for operands, a lowered epilogue and a block's shape.
  init(_ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape) {
    self.init(
      outputs: Outputs(operands, epilogue), rowCount: shape.rowCount, vectorCount: shape.vectorCount,
      columnCount: shape.columnCount)
  }
}
