// SPDX-License-Identifier: Apache-2.0

/// How a picture is fitted into a model's input when their shapes differ.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum FitPolicy: Hashable, Sendable {
  /// The whole picture, with its sides scaled independently.
  case stretch
  /// The largest centered part with the input's proportions; what lies outside is not seen.
  ///
  /// The cut side is rounded to the nearest whole pixel; an odd remainder goes to the right and bottom.
  case centerCrop
  /// The whole picture with its proportions kept, centered; the rest of the input has the fill color.
  ///
  /// Without a color, a task takes the letterbox that its model was trained with, such as ``yolo`` or ``yolox``, and black around a
  /// centered picture if it was trained with none.
  ///
  /// Scaled sides are `round(side · min(H / h, W / w))` in double precision, halves to even, as Ultralytics' `LetterBox`
  /// has them; an odd remainder goes to the right and bottom.
  case letterbox(fill: PixelColor? = nil)
  /// The whole picture with its proportions kept, at the top left; the rest of the input has the fill color.
  ///
  /// Scaled sides are `trunc(side · min(H / h, W / w))` in double precision, as YOLOX's `preproc` has them.
  case topLeftLetterbox(fill: PixelColor = .black)

  /// The policy's name: `stretch`, `center-crop`, `letterbox` or `top-left letterbox`.
  public var name: String {
    switch self {
    case .stretch: "stretch"
    case .centerCrop: "center-crop"
    case .letterbox: "letterbox"
    case .topLeftLetterbox: "top-left letterbox"
    }
  }

  /// The letterbox of YOLO models: gray of 114 around the picture.
  public static let yolo = FitPolicy.letterbox(fill: PixelColor(red: 114, green: 114, blue: 114))

  /// The letterbox of YOLOX models: gray of 114 to the right of the picture or below it.
  public static let yolox = FitPolicy.topLeftLetterbox(fill: PixelColor(red: 114, green: 114, blue: 114))

  /// The color around a picture; nil if nothing is around it.
  var fill: PixelColor? {
    switch self {
    case .stretch, .centerCrop: nil
    case .letterbox(let fill): fill ?? .black
    case .topLeftLetterbox(let fill): fill
    }
  }

  /// The policy for a model that was trained with another one: a letterbox without a color is the model's own, if it has one.
  package func completed(by trained: FitPolicy) -> FitPolicy {
    switch (self, trained) {
    case (.letterbox(nil), .letterbox), (.letterbox(nil), .topLeftLetterbox): trained
    case (.letterbox(nil), _): .letterbox(fill: .black)
    default: self
    }
  }
}
