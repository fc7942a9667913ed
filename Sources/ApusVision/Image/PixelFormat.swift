// SPDX-License-Identifier: Apache-2.0

/// The order of the bytes of one pixel in memory.
///
/// Every channel is one byte; colors are taken as sRGB. Alpha is carried along and otherwise ignored:
/// nothing here premultiplies or blends.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum PixelFormat: String, CaseIterable, Hashable, Sendable {
  /// Red, green, blue.
  case rgb
  /// Blue, green, red.
  case bgr
  /// Red, green, blue, alpha.
  case rgba
  /// Blue, green, red, alpha.
  case bgra
  /// Alpha, red, green, blue.
  case argb
  /// Alpha, blue, green, red.
  case abgr
  /// One byte of luminance.
  case gray

  /// How many bytes one pixel takes: 1, 3 or 4.
  public var bytesPerPixel: Int {
    switch self {
    case .gray: 1
    case .rgb, .bgr: 3
    case .rgba, .bgra, .argb, .abgr: 4
    }
  }

  /// Whether a pixel has an alpha channel.
  public var hasAlpha: Bool { alphaOffset != nil }

  /// The byte of red within a pixel; the only byte of a gray one.
  package var redOffset: Int {
    switch self {
    case .rgb, .rgba, .gray: 0
    case .argb: 1
    case .bgr, .bgra: 2
    case .abgr: 3
    }
  }

  /// The byte of green within a pixel; the only byte of a gray one.
  package var greenOffset: Int {
    switch self {
    case .gray: 0
    case .rgb, .bgr, .rgba, .bgra: 1
    case .argb, .abgr: 2
    }
  }

  /// The byte of blue within a pixel; the only byte of a gray one.
  package var blueOffset: Int {
    switch self {
    case .gray, .bgr, .bgra: 0
    case .abgr: 1
    case .rgb, .rgba: 2
    case .argb: 3
    }
  }

  /// The byte of alpha within a pixel, or nil if there is none.
  package var alphaOffset: Int? {
    switch self {
    case .rgb, .bgr, .gray: nil
    case .argb, .abgr: 0
    case .rgba, .bgra: 3
    }
  }
}
