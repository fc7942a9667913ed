// SPDX-License-Identifier: Apache-2.0

// Arithmetic of sizes and shares.

/// `a / b` rounded up, for `a ≥ 0` and `b > 0`.
@inlinable @inline(__always)
package func ceilingQuotient(_ a: Int, _ b: Int) -> Int {
  a / b + (a % b == 0 ? 0 : 1)
}

/// The smallest multiple of `step` that is at least `a ≥ 0`.
@inlinable @inline(__always)
package func roundedUp(_ a: Int, to step: Int) -> Int {
  ceilingQuotient(a, step) * step
}

/// The range of `count` items that one of `tiles` tiles processes; ranges differ in length by at most one
/// item.
@inlinable @inline(__always)
package func share(of count: Int, tile: Int, of tiles: Int) -> Range<Int> {
  count &* tile / tiles..<count &* (tile &+ 1) / tiles
}
