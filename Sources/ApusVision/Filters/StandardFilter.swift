// SPDX-License-Identifier: Apache-2.0
import Apus

/// The filters of this library, each a value.
///
/// Each works on the picture as it is seen, in the picture's format, on each color channel by itself unless it says otherwise.
/// Alpha stays as it is. Beyond an edge, the pixels of the edge repeat. Radii are in pixels.
///
/// The rules are those of the filters of the same names in GPUImage 2, with integers in place of textures: results are
/// rounded to the nearest of 0 to 255 where a texture would be.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StandardFilter: Hashable, Sendable {
  /// Which numbers edges are found in.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum EdgeSource: String, CaseIterable, Hashable, Sendable {
    /// The red channel; that of a gray picture.
    case red
    /// ``PixelColor/luminance``.
    case luminance
  }

  /// How steep the picture is, by Prewitt's operator: with the eight neighbors of a pixel, `h` is the sum of the row below
  /// minus that of the row above, `v` that of the column to the right minus that to the left. All colors of the result are
  /// `√(h² + v²) · strength`, at most 255.
  case prewitt(strength: Double = 1, of: EdgeSource = .red)

  /// Like Prewitt's operator, but neighbors that share a side with the pixel count twice.
  case sobel(strength: Double = 1, of: EdgeSource = .red)

  /// The minimum over the `2 · radius + 1` pixels of a row, then of a column: dark areas grow. Radius 0 changes nothing.
  case erosion(radius: Int = 1)

  /// The maximum over the `2 · radius + 1` pixels of a row, then of a column: light areas grow. Radius 0 changes nothing.
  case dilation(radius: Int = 1)

  /// Dilation, then erosion: dark gaps of up to `2 · radius` pixels between light areas close.
  case closing(radius: Int = 1)

  /// `255 − v`.
  case inversion

  /// A blur with normal weights; σ is the radius, rounded to a whole number from 0, which changes nothing, to 61.
  ///
  /// A pixel takes `⌊√(−2σ² · ln(σ√(2π) / 256))⌋` neighbors to each side, one more where that is odd: those whose weight a byte
  /// can show. Rows first, then columns, each rounded to bytes.
  case gaussianBlur(radius: Double = 1)
}

extension StandardFilter: ImageFilter {
  /// The largest σ of a blur: with larger ones, the rule above takes fewer neighbors again.
  static let maximumSigma = 61

  /// The filtered picture: as it is seen, tightly packed, in the same format.
  ///
  /// - Throws: `invalidArgument` for a negative radius, a strength that is negative or not finite, or a blur beyond σ 61;
  ///   `resourceLimit` if the system refuses memory.
  public func apply(_ image: ImageBuffer) throws(ApusError) -> ImageBuffer {
    try apply(image) { () throws(ApusError) in }
  }

  /// The filtered picture; `checkTime` is called now and then.
  func apply(
    _ image: ImageBuffer, _ checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> ImageBuffer {
    try check()
    // The upright picture, a result of rows, one of columns, and the one with its alpha.
    try requireMemory(4 * image.width * image.height * image.format.bytesPerPixel, for: "the filter \(self)")
    let image = image.oriented()
    switch self {
    case .prewitt(let strength, let source):
      return try image.edges(sideWeight: 1, strength: strength, of: source, checkTime)
    case .sobel(let strength, let source):
      return try image.edges(sideWeight: 2, strength: strength, of: source, checkTime)
    case .erosion(let radius): return try image.extremes(.minimum, radius: radius, checkTime)
    case .dilation(let radius): return try image.extremes(.maximum, radius: radius, checkTime)
    case .closing(let radius):
      return try image.extremes(.maximum, radius: radius, checkTime)
        .extremes(.minimum, radius: radius, checkTime)
    case .inversion: return image.replacingColors(with: image.bytes.map { 255 - $0 })
    case .gaussianBlur(let radius):
      return try image.blurred(GaussianWeights(sigma: Int(radius.rounded())), checkTime)
    }
  }

  /// Refuses parameters that are out of range.
  func check() throws(ApusError) {
    switch self {
    case .prewitt(let strength, _), .sobel(let strength, _):
      guard strength >= 0, strength.isFinite else {
        throw ApusError(.invalidArgument, "\(self): the strength is not a number from 0 on")
      }
    case .erosion(let radius), .dilation(let radius), .closing(let radius):
      guard radius >= 0 else { throw ApusError(.invalidArgument, "\(self): the radius is less than 0") }
    case .inversion: break
    case .gaussianBlur(let radius):
      guard radius >= 0, radius.rounded() <= Double(Self.maximumSigma) else {
        throw ApusError(
          .invalidArgument, "\(self): the radius is not a number from 0 to \(Self.maximumSigma)")
      }
    }
  }
}

extension StandardFilter: CustomStringConvertible {
  /// The filter as ``FilterChain/init(parsing:)`` reads it, for example `prewitt:0.7`.
  public var description: String {
    switch self {
    case .prewitt(let strength, let source): "prewitt:\(strength)" + Self.suffix(source)
    case .sobel(let strength, let source): "sobel:\(strength)" + Self.suffix(source)
    case .erosion(let radius): "erosion:\(radius)"
    case .dilation(let radius): "dilation:\(radius)"
    case .closing(let radius): "closing:\(radius)"
    case .inversion: "invert"
    case .gaussianBlur(let radius): "gaussian:\(radius)"
    }
  }

  private static func suffix(_ source: EdgeSource) -> String { source == .red ? "" : ":\(source.rawValue)" }
}

extension ImageBuffer {
  /// This tightly packed picture with other colors, and its own alpha.
  func replacingColors(with colors: consuming [UInt8]) -> ImageBuffer {
    if let alpha = format.alphaOffset {
      let bytes = bytes
      for position in stride(from: alpha, to: colors.count, by: format.bytesPerPixel) {
        colors[position] = bytes[position]
      }
    }
    return ImageBuffer(trusted: colors, width: width, height: height, format: format)
  }
}
