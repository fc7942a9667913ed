// SPDX-License-Identifier: Apache-2.0

import ApusVision

/// How detections are drawn.
public struct AnnotationStyle: Hashable, Sendable {
  /// The width of a box's line in pixels; nil: 1/200 of the mean side, at least 2.
  public var lineWidth: Float?
  /// The height of the text in pixels; nil: 1/32 of the mean side, from 11 to 64.
  public var fontSize: Float?
  /// The font family; replaced by another one if it is not installed.
  public var fontFamily: String
  /// Whether the name is written.
  public var showsName: Bool
  /// Whether the score is written, in whole percent; of a match, the distance.
  public var showsScore: Bool
  /// The color of each class.
  public var palette: ClassPalette

  /// Makes a style; each part has a default.
  public init(
    lineWidth: Float? = nil, fontSize: Float? = nil, fontFamily: String = "DejaVu Sans",
    showsName: Bool = true, showsScore: Bool = true, palette: ClassPalette = .standard
  ) {
    self.lineWidth = lineWidth
    self.fontSize = fontSize
    self.fontFamily = fontFamily
    self.showsName = showsName
    self.showsScore = showsScore
    self.palette = palette
  }

  /// The text on a detection's plate, such as `triangle 97 %`: one line, at most 48 characters of the name.
  public func caption(for detection: Detection) -> String {
    var parts: [String] = []
    if showsName { parts.append(Self.line(detection.category.name)) }
    if showsScore {
      let percent = detection.score * 100
      // Rounded half up; impossible scores must not trap.
      parts.append(
        percent.isFinite && abs(percent) < 10_000 ? "\(Int((percent + 0.5).rounded(.down))) %" : "? %")
    }
    return parts.joined(separator: " ")
  }

  /// The text on a match's plate, such as `Ada 0.42`: the name or `unknown`, and the distance to two decimals.
  public func caption(for match: GalleryResult.Match) -> String {
    var parts: [String] = []
    if showsName { parts.append(Self.line(match.name ?? "unknown")) }
    if showsScore, let distance = match.distance {
      let hundredths = (distance * 100).rounded()
      // Impossible distances must not trap.
      if hundredths >= 0, hundredths < 1e9 {
        let (whole, rest) = Int(hundredths).quotientAndRemainder(dividingBy: 100)
        parts.append("\(whole).\(rest < 10 ? "0" : "")\(rest)")
      }
    }
    return parts.joined(separator: " ")
  }

  /// The color of a name, equal in every picture and every process; gray without a name.
  func color(ofName name: String?) -> PixelColor {
    guard let name else { return PixelColor(hex: 0x808080) }
    // Fowler, Noll and Vo's hash (FNV-1a): Swift's own differs from process to process.
    let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    return palette[Int(hash >> 1)]
  }

  /// The first 48 characters of a name, in one line and in the order in which they are written.
  private static func line(_ name: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in name.unicodeScalars.prefix(48) {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: line.append(" ")
      default: line.append(scalar)
      }
    }
    return String(line)
  }
}
