/// The instructions of an arm64 machine, and how products are laid out for it: panels of up to sixteen columns.
package enum Arm64Target: Hashable, Sendable {
  /// With products of four bytes at once: Armv8.2's DotProd.
  case dotProduct
  /// Without.
  case neon
}

extension Arm64Target {
  package var name: String { self == .dotProduct ? "arm64 dot" : "arm64 neon" }
  package var lanes: Int { 4 }
  package var mostVectors: Int { 4 }
  package var depthwiseVectors: Int { 4 }
  /// Without DotProd two products are added in 16 bits: 2·128·127 < 2¹⁵.
  package var weightBounds: ClosedRange<Int32> { self == .dotProduct ? -128...127 : -127...127 }
  /// Both factors are signed.
  package var activationOffset: Int32 { 128 }
  package var needsBoundedSums: Bool { false }
  package var factorByteCount: Int { Arm64FactorLayout.byteCount }

  package func mostRows(_ product: Arm64Product, vectorCount: Int) -> Int {
    Arm64ProductGenerator.mostRows(self, product, vectorCount: vectorCount)
  }

  package func column(isBytes: Bool, vectorCount: Int, vector: Int, lane: Int) -> Int {
    vector &* lanes &+ lane
  }

  package func canFinish(_ epilogue: Epilogue) -> Bool {
    switch epilogue {
    case .float32: true
    case .fixedPoint(let multipliers, _, _, _): multipliers.allSatisfy { $0.value > .min && $0.shift > -32 }
    case .float64(let scales, _, _, _): scales.allSatisfy(\.isFinite)
    default: false
    }
  }

  package func fillFactors(
    _ block: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: Epilogue, vectorCount: Int,
    channel: (Int) -> Int?
  ) {
    unsafe Arm64FactorLayout.fill(block, epilogue, columnCount: vectorCount * lanes, channel: channel)
  }

  package func generator(
    _ product: Arm64Product, _ operands: MatrixOperands, _ epilogue: Epilogue?, rowCount: Int,
    vectorCount: Int, columnCount: Int
  ) -> any CodeGenerator {
    Arm64ProductGenerator(
      target: self, product: product,
      end: Arm64EpilogueGenerator(
        kind: .init(operands, epilogue), rowCount: rowCount, vectorCount: vectorCount,
        columnCount: columnCount))
  }

  package func depthwiseGenerator(
    _ product: Arm64Product, _ operands: MatrixOperands, _ epilogue: Epilogue?, pixelCount: Int,
    channelCount: Int
  ) -> any CodeGenerator {
    Arm64DepthwiseGenerator(
      target: self, product: product,
      end: Arm64EpilogueGenerator(
        kind: .init(operands, epilogue), rowCount: pixelCount, vectorCount: depthwiseVectors,
        columnCount: channelCount))
  }
}
