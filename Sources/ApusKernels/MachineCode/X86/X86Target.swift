// SPDX-License-Identifier: Apache-2.0

/// The instructions of an x86 machine.
package enum X86Target: Hashable, Sendable {
  case avx512
  case avx2

  var width: X86Assembler.Width { self == .avx512 ? .zmm : .ymm }
  /// 32-bit lanes of a vector.
  var lanes: Int { self == .avx512 ? 16 : 8 }
}

extension X86Target: CodeTarget {
  var name: String { self == .avx512 ? "x86 avx512" : "x86 avx2" }
  var mostVectors: Int { self == .avx512 ? 4 : 2 }
  var depthwiseVectors: Int { self == .avx512 ? 4 : 2 }
  var hasFunctionsForFewRows: Bool { true }
  var fetchesAhead: Bool { true }

  func mostRows(_ product: ProductKind, vectorCount: Int) -> Int {
    switch (self, vectorCount) {
    case (.avx512, 4): 6
    case (.avx512, 3): 8
    case (.avx512, 2): 12
    case (.avx512, _): 14
    case (.avx2, 2): 6
    case (.avx2, _): 12
    }
  }

  func mostInnerRows(columnCount: Int) -> Int {
    // Beside the sums there are the weights of a step, a vector of a row and, with AVX2, a mask.
    columnCount > 4 ? 0 : min(12, ((self == .avx512 ? 31 : 14) - columnCount) / columnCount)
  }

  /// Packing vectors of 32-bit lanes interleaves them by quarters of 128 bits: lanes are given out so that the bytes come
  /// out in order, where they are not put in order anyway.
  func byteColumns(vectorCount: Int) -> LaneOrder {
    self == .avx512 && vectorCount < 4
      ? LaneOrder(count: vectorCount * lanes) : LaneOrder(quartersOf: vectorCount, lanes: lanes)
  }

  func mostOverlappingRows(
    _ product: ProductKind, _ steps: ProductSteps, _ operands: MatrixOperands, _ epilogue: Epilogue
  ) -> [Int] {
    let kind = X86EpilogueGenerator.Kind(operands, epilogue, isPerRow: false)
    guard self == .avx512, product == .unsignedBytes || product == .signedBytes,
      kind.shiftsRight || kind.isSingle
    else { return [] }
    return X86OverlappingProductGenerator.mostRows(steps)
  }

  func rate(_ product: ProductKind) -> Double {
    switch product {
    case .floats: 48
    case .words: 64
    case .unsignedBytes, .signedBytes: self == .avx512 ? 160 : 96
    }
  }

  var weightBounds: ClosedRange<Int32> { -128...127 }
  var activationOffset: Int32 { 0 }
  func gathered(_ product: ProductKind) -> ProductKind {
    product == .signedBytes ? .unsignedBytes : product
  }
  var sharesPipes: Bool { self == .avx512 && CPUFeatures.current.contains(.twoWidePipes) }
  func sumLimit(_ epilogue: Epilogue) -> Int? {
    switch epilogue {
    case .fixedPoint(let multipliers, _, _, _):
      return X86EpilogueGenerator.shiftRight(multipliers) ? X86EpilogueGenerator.sumLimit : nil
    case .singlePrecision(let factors, _, _, _):
      // Products are below 2³¹ whatever the sums are, unless a factor is a half or more.
      let exponent = factors.reduce(-2) { max($0, Int($1.multiplier.exponent)) }
      return exponent < -1 ? nil : X86EpilogueGenerator.sumLimit >> (exponent + 1)
    default: return nil
    }
  }

  var leastShift: Int32? { X86EpilogueGenerator.leastShift }

  func requireFinish(_ epilogue: Epilogue) throws(Decline) {
    switch epilogue {
    case .float32, .float64, .hybrid, .singlePrecision, .fixedPoint, .fixedPointOfAnySum: return
    default: throw Decline("there is no generated code for \(epilogue.name)")
    }
  }

  func form(_ operands: MatrixOperands, _ epilogue: Epilogue) -> String {
    let kind = X86EpilogueGenerator.Kind(operands, epilogue, isPerRow: false)
    switch epilogue {
    case .fixedPoint, .fixedPointOfAnySum: break
    default: return epilogue.name
    }
    return kind.isRectified
      ? "outputs in fixed point, shifted right and none below the zero point"
      : kind.shiftsRight ? "outputs in fixed point, shifted right" : "outputs in fixed point, step by step"
  }

  func simplified(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int
  ) throws(Decline) -> Epilogue? {
    guard case .fixedPoint = epilogue else { return nil }
    return try SinglePrecisionFactor.epilogue(
      epilogue, faint: faint, outputsPerChannel: outputsPerChannel, depth: depth, cutsOff: self == .avx512)
  }

  var runsHybrid: Bool { true }
  /// Words are multiplied 256 bits at a time everywhere.
  func depthwiseTarget(_ operands: MatrixOperands) -> X86Target { operands.isHybrid ? .avx2 : self }
  var flipping: FlippingCode? { .x86(self) }
  func widening(isSigned: Bool) -> WideningCode? { .x86(isSigned: isSigned) }

  var factorByteCount: Int { X86FactorLayout(self).byteCount }

  func fillFactors(
    _ blocks: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: Epilogue, blockCount: Int,
    lanes: (_ block: Int) -> ChannelLanes
  ) {
    let layout = X86FactorLayout(self)
    let kind = X86EpilogueGenerator.Kind(operands, epilogue, isPerRow: false)
    for block in 0..<blockCount {
      unsafe layout.fill(
        blocks + block * layout.byteCount, epilogue: epilogue, kind: kind, lanes: lanes(block))
    }
  }

  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: Epilogue?, _ shape: BlockShape
  ) -> any CodeGenerator {
    let kind = X86EpilogueGenerator.Kind(operands, epilogue, isPerRow: shape.isPerRow)
    if let steps = shape.overlapping {
      return X86OverlappingProductGenerator(
        product: product, epilogue: kind, rowCount: shape.rowCount, vectorCount: shape.vectorCount,
        columnCount: shape.columnCount, steps: steps)
    }
    return X86ProductGenerator(target: self, product: product, epilogue: kind, shape: shape)
  }

  func depthwiseGenerator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: Epilogue?, _ shape: BlockShape
  ) -> any CodeGenerator {
    X86DepthwiseGenerator(
      target: self, product: product, epilogue: .init(operands, epilogue, isPerRow: false),
      pixelCount: shape.rowCount, channelCount: shape.columnCount)
  }
}

extension X86Target {
  func mostRowColumns(
    _ product: ProductKind, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int {
    switch product {
    case .floats:
      X86DepthwiseRowGenerator.mostColumns(columnStep: columnStep, tapStep: tapStep, tapColumns: tapColumns)
    case .unsignedBytes, .signedBytes:
      X86DepthwiseByteRowGenerator.mostColumns(
        self, columnStep: columnStep, tapStep: tapStep, tapRows: tapRows, tapColumns: tapColumns)
    case .words:
      X86DepthwiseWordRowGenerator.mostColumns(
        self, columnStep: columnStep, tapStep: tapStep, tapRows: tapRows, tapColumns: tapColumns)
    }
  }

  var readsBytesInPlace: Bool { self == .avx512 }

  /// Where that leaves more than half of the lanes of 256 bits with channels; without masks, by whole vectors of 128.
  func readsRows(channels: Int) -> Bool {
    (self == .avx512 || channels.isMultiple(of: 4)) && 2 * channels > (channels + 7) / 8 * 8
  }

  func rowGenerator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: Epilogue?, _ shape: DepthwiseRowShape
  ) -> (any CodeGenerator)? {
    let kind = X86EpilogueGenerator.Kind(operands, epilogue, isPerRow: false)
    switch product {
    case .floats: return X86DepthwiseRowGenerator(target: self, epilogue: kind, shape: shape)
    case .unsignedBytes, .signedBytes:
      return X86DepthwiseByteRowGenerator(product: product, epilogue: kind, shape: shape)
    case .words:
      guard let place = shape.place else { return nil }
      let isSigned = if case .int8 = operands { true } else { false }
      return X86DepthwiseWordRowGenerator(isSigned: isSigned, epilogue: kind, shape: shape, place: place)
    }
  }
}

extension X86Target {
  func winogradCost(_ product: ProductKind) -> WinogradCost? {
    switch (self, product) {
    case (.avx2, .words): WinogradCost(finish: 10, input: 270, weights: 80, output: 250, margin: 1.1)
    case (.avx2, .floats): WinogradCost(finish: 4, input: 130, weights: 40, output: 95, margin: 1.15)
    // By static analysis of its code, for the slower of two processors.
    case (.avx512, .floats): WinogradCost(finish: 4, input: 140, weights: 50, output: 120, margin: 1.25)
    case (.avx512, _):
      WinogradCost(directSteps: 2, finish: 12, input: 260, weights: 120, output: 400, margin: 1.25)
    default: nil
    }
  }

  func winogradGenerator(_ step: WinogradStep) -> (any CodeGenerator)? {
    X86WinogradGenerator(self, step)
  }
}
