// SPDX-License-Identifier: Apache-2.0

/// FarmHash's fingerprint of 64 bits, which never changes.
///
/// Source: Google's FarmHash, `Fingerprint64`.
enum Fingerprint {
  private static let k0: UInt64 = 0xC3A5_C85C_97CB_3127
  private static let k1: UInt64 = 0xB492_B66F_BE98_F273
  private static let k2: UInt64 = 0x9AE1_6A3B_2F90_404F

  /// The fingerprint of some bytes.
  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    return switch count {
    case 0: k2
    case 1...3: unsafe upTo3(bytes)
    case 4...16: unsafe upTo16(bytes)
    case 17...32: unsafe upTo32(bytes)
    case 33...64: unsafe upTo64(bytes)
    default: unsafe long(bytes)
    }
  }

  private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value &>> count | value &<< (64 &- count)
  }

  private static func mixed(_ value: UInt64) -> UInt64 { value ^ value >> 47 }

  private static func combined(_ low: UInt64, _ high: UInt64, _ factor: UInt64) -> UInt64 {
    let first = mixed((low ^ high) &* factor)
    return mixed((high ^ first) &* factor) &* factor
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func halfWord(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  private static func upTo3(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    let first = unsafe UInt64(bytes[0]) &+ UInt64(bytes[count / 2]) << 8
    let last = unsafe UInt64(count) &+ UInt64(bytes[count &- 1]) << 2
    return mixed(first &* k2 ^ last &* k0) &* k2
  }

  private static func upTo16(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    let factor = k2 &+ UInt64(count) &* 2
    if count < 8 {
      return unsafe combined(
        UInt64(count) &+ halfWord(bytes, 0) << 3, halfWord(bytes, count &- 4), factor)
    }
    let first = unsafe word(bytes, 0) &+ k2
    let last = unsafe word(bytes, count &- 8)
    return combined(
      rotated(last, 37) &* factor &+ first, (rotated(first, 25) &+ last) &* factor, factor)
  }

  private static func upTo32(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    let factor = k2 &+ UInt64(count) &* 2
    let a = unsafe word(bytes, 0) &* k1
    let b = unsafe word(bytes, 8)
    let c = unsafe word(bytes, count &- 8) &* factor
    let d = unsafe word(bytes, count &- 16) &* k2
    return combined(
      rotated(a &+ b, 43) &+ rotated(c, 30) &+ d, a &+ rotated(b &+ k2, 18) &+ c, factor)
  }

  private static func upTo64(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let count = bytes.count
    let factor = k2 &+ UInt64(count) &* 2
    let a = unsafe word(bytes, 0) &* k2
    let b = unsafe word(bytes, 8)
    let c = unsafe word(bytes, count &- 8) &* factor
    let d = unsafe word(bytes, count &- 16) &* k2
    let y = rotated(a &+ b, 43) &+ rotated(c, 30) &+ d
    let z = combined(y, a &+ rotated(b &+ k2, 18) &+ c, factor)
    let e = unsafe word(bytes, 16) &* factor
    let f = unsafe word(bytes, 24)
    let g = unsafe (y &+ word(bytes, count &- 32)) &* factor
    let h = unsafe (z &+ word(bytes, count &- 24)) &* factor
    return combined(
      rotated(e &+ f, 43) &+ rotated(g, 30) &+ h, e &+ rotated(f &+ a, 18) &+ g, factor)
  }

  private static func long(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let seed: UInt64 = 81
    var y = seed &* k1 &+ 113
    var z = mixed(y &* k2 &+ 113) &* k2
    var x = unsafe seed &* k2 &+ word(bytes, 0)
    var v: (UInt64, UInt64) = (0, 0)
    var w: (UInt64, UInt64) = (0, 0)

    /// Hashes 64 bytes.
    func absorb(_ offset: Int, factor: UInt64, weight: UInt64) {
      x = unsafe rotated(x &+ y &+ v.0 &+ word(bytes, offset &+ 8), 37) &* factor
      y = unsafe rotated(y &+ v.1 &+ word(bytes, offset &+ 48), 42) &* factor
      x ^= w.1 &* weight
      y = unsafe y &+ v.0 &* weight &+ word(bytes, offset &+ 40)
      z = rotated(z &+ w.0, 33) &* factor
      v = unsafe weak(bytes, offset, v.1 &* factor, x &+ w.0)
      w = unsafe weak(bytes, offset &+ 32, z &+ w.1, y &+ word(bytes, offset &+ 16))
      (x, z) = (z, x)
    }

    // All but the last 1 to 64 bytes, then the last 64.
    let end = (bytes.count &- 1) / 64 &* 64
    for offset in stride(from: 0, to: end, by: 64) { absorb(offset, factor: k1, weight: 1) }
    let factor = k1 &+ (z & 0xFF) &<< 1
    w.0 &+= UInt64((bytes.count &- 1) & 63)
    v.0 &+= w.0
    w.0 &+= v.0
    absorb(bytes.count &- 64, factor: factor, weight: 9)
    return combined(
      combined(v.0, w.0, factor) &+ mixed(y) &* k0 &+ z, combined(v.1, w.1, factor) &+ x, factor)
  }

  /// Hashes 32 bytes and two seeds to two words.
  private static func weak(
    _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ first: UInt64, _ second: UInt64
  ) -> (UInt64, UInt64) {
    let start = unsafe first &+ word(bytes, offset)
    let last = unsafe word(bytes, offset &+ 24)
    let sum = unsafe start &+ word(bytes, offset &+ 8) &+ word(bytes, offset &+ 16)
    return (sum &+ last, rotated(second &+ start &+ last, 21) &+ rotated(sum, 44) &+ start)
  }
}
