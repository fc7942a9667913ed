// SPDX-License-Identifier: Apache-2.0

/// One color for every class: the same for the same index, in every picture and every process.
public struct ClassPalette: Hashable, Sendable {
  /// The colors, used in turn.
  public let colors: [PixelColor]

  /// Makes a palette; without colors it is a single red.
  public init(colors: [PixelColor]) {
    self.colors = colors.isEmpty ? [PixelColor(hex: 0xE6194B)] : colors
  }

  /// Twenty colors that are easy to tell apart, the most different ones first.
  public static let standard = ClassPalette(
    colors: [
      0xE6194B, 0x3CB44B, 0xFFE119, 0x4363D8, 0xF58231, 0x911EB4, 0x42D4F4, 0xF032E6, 0xBFEF45, 0xFABED4,
      0x469990, 0xDCBEFF, 0x9A6324, 0xFFFAC8, 0x800000, 0xAAFFC3, 0x808000, 0xFFD8B1, 0x000075, 0xA9A9A9,
    ].map(PixelColor.init(hex:)))

  /// The color of a class; any index has one, negative ones too.
  public subscript(index: Int) -> PixelColor {
    let remainder = index % colors.count
    return colors[remainder < 0 ? remainder + colors.count : remainder]
  }
}
