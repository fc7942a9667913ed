// SPDX-License-Identifier: Apache-2.0

/// Generated code that widens bytes, signed or not, to 16 bits and takes off their zero point: whole steps of them.
struct WideningCode: @unchecked Sendable {
  // @unchecked: the address is of code that is never changed.

  /// Bytes of a step.
  static let step = 64

  struct Arguments: CodeArguments {
    var source: Int
    var steps: Int
    var lanes: Int
    var zeroPoint: Int16
  }

  let function: UnsafeRawPointer

  /// Converts `steps` steps, at least one.
  func convert(
    _ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Int16>, steps: Int, zeroPoint: Int16
  ) {
    let arguments = Arguments(
      source: Int(bitPattern: source), steps: steps, lanes: Int(bitPattern: lanes), zeroPoint: zeroPoint)
    unsafe arguments.call(function)
  }
}
