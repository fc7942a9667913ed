// SPDX-License-Identifier: Apache-2.0

/// One color: 8-bit sRGB with alpha.
public struct PixelColor: Hashable, Sendable {
  /// Red, 0 to 255.
  public var red: UInt8
  /// Green, 0 to 255.
  public var green: UInt8
  /// Blue, 0 to 255.
  public var blue: UInt8
  /// Opacity, 0 to 255; not premultiplied.
  public var alpha: UInt8

  /// Makes a color from its channels; opaque by default.
  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// Makes an opaque color from `0xRRGGBB`; higher bits are ignored.
  public init(hex: UInt32) {
    self.init(
      red: UInt8(truncatingIfNeeded: hex >> 16), green: UInt8(truncatingIfNeeded: hex >> 8),
      blue: UInt8(truncatingIfNeeded: hex))
  }

  /// Opaque black.
  public static let black = PixelColor(red: 0, green: 0, blue: 0)
  /// Opaque white.
  public static let white = PixelColor(red: 255, green: 255, blue: 255)

  /// The luminance of ITU-R BT.601 in 16-bit fixed point: `(19595 R + 38470 G + 7471 B + 32768) >> 16`.
  public var luminance: UInt8 {
    grayLevel(red: red, green: green, blue: blue)
  }

  /// Black or white, whichever is easier to read on this color.
  public var contrasting: PixelColor {
    luminance > 140 ? .black : .white
  }
}

/// The luminance of ITU-R BT.601; the weights add up to 65,536, so the sum stays below 2²⁴.
@inline(__always)
func grayLevel(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
  let sum = UInt32(red) &* 19_595 &+ UInt32(green) &* 38_470 &+ UInt32(blue) &* 7_471
  return UInt8(truncatingIfNeeded: (sum &+ 32_768) >> 16)
}
