// SPDX-License-Identifier: Apache-2.0

/// Generated code that widens bytes, signed or not, to 16 bits and takes off their zero point: whole steps of them.
typealias WideningCode = CodeFunction<WideningArguments>

/// The arguments of ``WideningCode``.
struct WideningArguments: CodeArguments {
  var source: Int
  var steps: Int
  var lanes: Int
  var zeroPoint: Int16
}

extension WideningCode {
  /// Bytes of a step.
  static var step: Int { 64 }

  /// Converts `steps` steps, at least one.
  func convert(
    _ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Int16>, steps: Int, zeroPoint: Int16
  ) {
    call(
      WideningArguments(
        source: Int(bitPattern: source), steps: steps, lanes: Int(bitPattern: lanes), zeroPoint: zeroPoint))
  }
}
