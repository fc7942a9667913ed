// SPDX-License-Identifier: Apache-2.0

/// How a picture is fitted into a model's input when their shapes differ.
public enum FitPolicy: Hashable, Sendable {
  /// The whole picture, with its sides scaled independently.
  case stretch
  /// The largest centered part with the input's proportions; what lies outside is not seen.
  ///
  /// The cut side is rounded to the nearest whole pixel; an odd remainder goes to the right and bottom.
  case centerCrop
  /// The whole picture with its proportions kept, centered; the rest of the input has the fill color.
  ///
  /// Scaled sides are `round(side · min(H / h, W / w))` in double precision, halves to even, as Ultralytics' `LetterBox`
  /// has them; an odd remainder goes to the right and bottom.
  case letterbox(fill: PixelColor = .black)

  /// The policy's name: `stretch`, `center-crop` or `letterbox`.
  public var name: String {
    switch self {
    case .stretch: "stretch"
    case .centerCrop: "center-crop"
    case .letterbox: "letterbox"
    }
  }

  /// The letterbox of YOLO models: gray of 114 around the picture.
  public static let yolo = FitPolicy.letterbox(fill: PixelColor(red: 114, green: 114, blue: 114))
}
