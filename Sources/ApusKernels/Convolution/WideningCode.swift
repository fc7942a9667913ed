// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code that widens bytes, signed or not, to `int16` and subtracts their zero point, in whole steps.
@usableFromInline package typealias WideningCode = CodeFunction<WideningArguments>

/// The arguments of ``WideningCode``.
@usableFromInline package struct WideningArguments: CodeArguments {
  /// The address of the bytes.
  @usableFromInline package var source: Int
  /// The number of steps, at least one.
  @usableFromInline package var steps: Int
  /// The address of the `int16` results.
  @usableFromInline package var lanes: Int
  /// The zero point, which is subtracted.
  @usableFromInline package var zeroPoint: Int16

  /// The conversion of `steps` steps at an address.
  @inlinable package init(source: Int, steps: Int, lanes: Int, zeroPoint: Int16) {
    self.source = source
    self.steps = steps
    self.lanes = lanes
    self.zeroPoint = zeroPoint
  }
}

extension WideningCode {
  /// The number of bytes in a step.
  @inlinable package static var step: Int { 64 }

  /// Converts `steps` steps, at least one.
  @inlinable package func convert(
    _ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Int16>, steps: Int, zeroPoint: Int16
  ) {
    call(
      WideningArguments(
        source: Int(bitPattern: source), steps: steps, lanes: Int(bitPattern: lanes), zeroPoint: zeroPoint))
  }
}
