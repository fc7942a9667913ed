// SPDX-License-Identifier: Apache-2.0

/// Generated code that copies bytes and turns the highest bit of each.
typealias FlippingCode = CodeFunction<FlippingArguments>

/// The arguments of ``FlippingCode``.
struct FlippingArguments: CodeArguments {
  var source: Int
  var count: Int
  var target: Int
  var flip: UInt32 = 0x8080_8080
}

extension FlippingCode {
  /// The fewest bytes that it takes.
  static var leastCount: Int { 64 }

  /// Copies `count` bytes, at least ``leastCount``, to where none of them lie.
  func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
    call(
      FlippingArguments(source: Int(bitPattern: source), count: count, target: Int(bitPattern: target)))
  }
}
