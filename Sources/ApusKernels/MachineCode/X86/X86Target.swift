extension X86Target: GeneratedTarget {
  package var name: String { "x86 " + rawValue }
  package var mostVectors: Int { self == .avx512 ? 4 : 2 }
  package var depthwiseVectors: Int { X86DepthwiseGenerator.vectorCount(self) }
  package var weightBounds: ClosedRange<Int32> { -128...127 }
  package var activationOffset: Int32 { 0 }
  package var needsBoundedSums: Bool { true }
  package var factorByteCount: Int { X86FactorLayout(self).byteCount }

  package func mostRows(_ product: GeneratedProduct, vectorCount: Int) -> Int {
    X86ProductGenerator.maximumRows(self, vectorCount: vectorCount)
  }

  package func column(isBytes: Bool, vectorCount: Int, vector: Int, lane: Int) -> Int {
    X86ProductGenerator.column(self, isBytes: isBytes, vectorCount: vectorCount, vector: vector, lane: lane)
  }

  package func canFinish(_ epilogue: Epilogue) -> Bool { epilogue.isPlain }

  package func fillFactors(
    _ block: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: Epilogue, vectorCount: Int,
    channel: (Int) -> Int?
  ) {
    unsafe X86FactorLayout(self).fill(
      block, epilogue: epilogue, kind: .init(operands, epilogue), target: self, vectorCount: vectorCount,
      channel: channel)
  }

  package func generator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, rowCount: Int,
    vectorCount: Int, columnCount: Int
  ) -> any CodeGenerator {
    X86ProductGenerator(
      target: self, product: product, epilogue: epilogue.map { .init(operands, $0) } ?? .sums,
      rowCount: rowCount, vectorCount: vectorCount, columnCount: columnCount)
  }

  package func depthwiseGenerator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, pixelCount: Int,
    channelCount: Int
  ) -> any CodeGenerator {
    X86DepthwiseGenerator(
      target: self, product: product, epilogue: epilogue.map { .init(operands, $0) } ?? .sums,
      pixelCount: pixelCount, channelCount: channelCount)
  }
}
