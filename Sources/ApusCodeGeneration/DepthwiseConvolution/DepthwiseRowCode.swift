// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// A target's code for depthwise convolutions that multiplies rows of taps, or up to four rows at once for
/// bytes, with a block of columns.
protocol DepthwiseRowCode {
  /// The maximum number of columns in a block; 0 if there is no such code.
  func maximumColumns(
    _ product: ProductKind, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int
  /// Whether float rows can be read in place if `channels` do not fill whole vectors.
  func readsRows(channels: Int) -> Bool
  /// Whether float rows with a depth multiplier can be read in place.
  func readsRepeatedly(depthMultiplier: Int, inputChannels: Int) -> Bool
  /// Whether bytes can be read in place.
  var readsBytesInPlace: Bool { get }
  /// The generator for a block; nil if there is no such code.
  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?,
    _ shape: DepthwiseRowShape
  ) -> (any CodeGenerator)?
}
