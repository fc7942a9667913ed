// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code that copies bytes and flips the highest bit of each.
@usableFromInline package typealias FlippingCode = CodeFunction<FlippingArguments>

/// The arguments of ``FlippingCode``.
@usableFromInline package struct FlippingArguments: CodeArguments {
  /// The address of the bytes.
  @usableFromInline package var source: Int
  /// The number of bytes.
  @usableFromInline package var count: Int
  /// The address of the result.
  @usableFromInline package var target: Int
  /// The bits to flip, of four bytes.
  @usableFromInline package var flip: UInt32

  /// The copy of `count` bytes, with the highest bit of each flipped.
  @inlinable package init(source: Int, count: Int, target: Int) {
    self.source = source
    self.count = count
    self.target = target
    flip = 0x8080_8080
  }
}

extension FlippingCode {
  /// The minimum number of bytes.
  @inlinable package static var minimumCount: Int { 64 }

  /// Copies `count` bytes, at least ``minimumCount``; source and target must not overlap.
  @inlinable package func copy(
    _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int
  ) {
    call(
      FlippingArguments(source: Int(bitPattern: source), count: count, target: Int(bitPattern: target)))
  }
}
