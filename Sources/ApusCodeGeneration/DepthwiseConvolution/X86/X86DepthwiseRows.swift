// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The x86 code for depthwise convolutions by rows of taps.
struct X86DepthwiseRows: DepthwiseRowCode {
  let target: X86Target

  func maximumColumns(
    _ product: ProductKind, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int {
    switch product {
    case .floats, .bfloat16, .bfloat16AsFloats, .bfloat16Tiles:
      X86DepthwiseRowGenerator.maximumColumns(
        columnStep: columnStep, tapStep: tapStep, tapColumns: tapColumns)
    case .unsignedBytes, .signedBytes:
      X86DepthwiseByteRowGenerator.maximumColumns(
        target, columnStep: columnStep, tapStep: tapStep, tapRows: tapRows, tapColumns: tapColumns)
    case .words:
      X86DepthwiseWordRowGenerator.maximumColumns(
        target, columnStep: columnStep, tapStep: tapStep, tapRows: tapRows, tapColumns: tapColumns)
    }
  }

  var readsBytesInPlace: Bool { target == .avx512 }

  /// True if more than half of the lanes, in vectors of 256 bits, have channels. Without masks, channels must
  /// fill vectors of 128 bits.
  func readsRows(channels: Int) -> Bool {
    (target == .avx512 || channels.isMultiple(of: 4)) && 2 * channels > (channels + 7) / 8 * 8
  }

  /// True if a vector consists of whole repeated channels, or of a single one.
  func readsRepeatedly(depthMultiplier: Int, inputChannels: Int) -> Bool {
    target == .avx512 && (inputChannels == 1 || target.lanes.isMultiple(of: depthMultiplier))
  }

  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?,
    _ shape: DepthwiseRowShape
  ) -> (any CodeGenerator)? {
    let outputs = X86EpilogueGenerator.Outputs(operands, epilogue, isPerRow: false)
    switch product {
    case .floats, .bfloat16, .bfloat16AsFloats, .bfloat16Tiles:
      return X86DepthwiseRowGenerator(target: target, epilogue: outputs, shape: shape)
    case .unsignedBytes, .signedBytes:
      return X86DepthwiseByteRowGenerator(product: product, epilogue: outputs, shape: shape)
    case .words:
      guard let inPlace = shape.inPlace else { return nil }
      let isSigned = if case .int8 = operands { true } else { false }
      return X86DepthwiseWordRowGenerator(
        isSigned: isSigned, epilogue: outputs, shape: shape, inPlace: inPlace)
    }
  }
}
