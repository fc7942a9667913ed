// SPDX-License-Identifier: Apache-2.0

/// Code of a target for blocks of columns of depthwise convolutions, of which a row of taps is taken at a time, or up to four rows
/// of bytes.
protocol DepthwiseRowCode {
  /// The most columns of a block; zero where there is no such code.
  func mostColumns(
    _ product: ProductKind, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int
  /// Whether rows of so many channels of floats, which are no whole vectors, are read where they lie.
  func readsRows(channels: Int) -> Bool
  /// Whether channels of floats that each make so many of the output are read where they lie.
  func readsRepeatedly(depthMultiplier: Int, inputChannels: Int) -> Bool
  /// Whether such blocks of bytes can be read where they lie.
  var readsBytesInPlace: Bool { get }
  /// What writes such a block; nil where there is no such code.
  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?,
    _ shape: DepthwiseRowShape
  ) -> (any CodeGenerator)?
}
