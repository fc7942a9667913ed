// SPDX-License-Identifier: Apache-2.0

/// Generated code that copies bytes and turns the highest bit of each.
struct FlippingCode: @unchecked Sendable {
  // @unchecked: the address is of code that is never changed.

  /// The fewest bytes that it takes.
  static let leastCount = 64

  struct Arguments: CodeArguments {
    var source: Int
    var count: Int
    var target: Int
    var flip: UInt32 = 0x8080_8080
  }

  let function: UnsafeRawPointer

  /// Copies `count` bytes, at least ``leastCount``, to where none of them lie.
  func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
    unsafe Arguments(source: Int(bitPattern: source), count: count, target: Int(bitPattern: target))
      .call(function)
  }
}
