// SPDX-License-Identifier: Apache-2.0

/// Which red, green and blue a luma and a chroma stand for, in integers of 16 bits.
///
/// A color is `(l + c + 32) >> 6`, limited to 0 to 255, where `l` is the contribution of luma and `c` that of chroma, both in 64ths. Each
/// contribution is a product of 16 bits: that of luma is rounded down, those of U and V to nearest. A color differs from the exact one by at
/// most 0.55.
package struct LumaChromaColors: Hashable, Sendable {
  /// The factor of luma, in 16,384ths.
  let lumaScale: UInt16
  /// The offset of luma, in 64ths: black, and the half that rounds the sum.
  let bias: Int16
  /// The factors of V for red and green, and of U for green and blue, in 8,192nds.
  let redOfV: Int16
  let greenOfU: Int16
  let greenOfV: Int16
  let blueOfU: Int16

  /// Makes colors from the weights of red and blue in luma.
  ///
  /// - Parameter isFull: Whether all values from 0 to 255 stand for colors; otherwise luma is 16 to 235 and chroma 16 to 240.
  package init(redWeight: Double, blueWeight: Double, isFull: Bool) {
    let greenWeight = 1 - redWeight - blueWeight
    let (luma, chroma) = isFull ? (1, 1) : (255.0 / 219, 255.0 / 224)
    func factor(_ value: Double) -> Int16 { Int16((value * chroma * 8192).rounded()) }
    lumaScale = UInt16((luma * 16_384).rounded())
    bias = Int16((32 - (isFull ? 0 : 16 * luma * 64)).rounded())
    redOfV = factor(2 * (1 - redWeight))
    blueOfU = factor(2 * (1 - blueWeight))
    greenOfU = factor(-2 * (1 - blueWeight) * blueWeight / greenWeight)
    greenOfV = factor(-2 * (1 - redWeight) * redWeight / greenWeight)
  }

  /// The colors of a luma and a chroma.
  package func color(_ luma: UInt8, _ u: UInt8, _ v: UInt8) -> (red: UInt8, green: UInt8, blue: UInt8) {
    let level = self.level(luma)
    let (red, green, blue) = chroma(u, v)
    return (Self.byte(level + red), Self.byte(level + green), Self.byte(level + blue))
  }

  /// The contribution of luma, in 64ths, with the half that rounds.
  @inline(__always)
  private func level(_ luma: UInt8) -> Int32 {
    (Int32(luma) &* 256 &* Int32(lumaScale)) &>> 16 &+ Int32(bias)
  }

  /// The contribution of chroma to red, green and blue, in 64ths.
  @inline(__always)
  private func chroma(_ u: UInt8, _ v: UInt8) -> (red: Int32, green: Int32, blue: Int32) {
    (
      Self.product(v, redOfV), Self.product(u, greenOfU) &+ Self.product(v, greenOfV),
      Self.product(u, blueOfU)
    )
  }

  /// A sample's distance from the middle times a factor, in 64ths, rounded to nearest.
  @inline(__always)
  private static func product(_ sample: UInt8, _ factor: Int16) -> Int32 {
    // As `vpmulhrsw` multiplies the sample as the upper byte of 16 bits.
    ((Int32(sample) &- 128) &* 256 &* Int32(factor) &+ 1 << 14) >> 15
  }

  /// The byte of a sum in 64ths.
  @inline(__always)
  private static func byte(_ sum: Int32) -> UInt8 { UInt8(truncatingIfNeeded: max(0, min(255, sum >> 6))) }

  /// Writes the colors of a row: red, green, blue and a zero for each pixel.
  ///
  /// - Parameters:
  ///   - steps: The distances between samples of luma, and of chroma, in bytes.
  ///   - count: The number of pixels, a multiple of two.
  func convertRow(
    luma: UnsafePointer<UInt8>, u: UnsafePointer<UInt8>, v: UnsafePointer<UInt8>,
    steps: (luma: Int, chroma: Int), count: Int, to target: UnsafeMutablePointer<UInt8>
  ) {
    var place = unsafe target
    var pair = 0
    while pair < count / 2 {
      let (red, green, blue) = unsafe chroma(u[pair &* steps.chroma], v[pair &* steps.chroma])
      var pixel = 2 &* pair
      while pixel < 2 &* pair &+ 2 {
        let level = unsafe self.level(luma[pixel &* steps.luma])
        unsafe place[0] = Self.byte(level &+ red)
        unsafe place[1] = Self.byte(level &+ green)
        unsafe place[2] = Self.byte(level &+ blue)
        unsafe place[3] = 0
        unsafe place += 4
        pixel &+= 1
      }
      pair &+= 1
    }
  }
}
