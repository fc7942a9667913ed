// SPDX-License-Identifier: Apache-2.0

/// How the pixels of a prepared image relate to the picture that they came from.
///
/// Model points and boxes are fractions of the model's input; image points and rectangles are pixels of the
/// picture as it is seen, that is, after its orientation.
public struct ImageTransform: Hashable, Sendable {
  /// A rectangle of whole pixels.
  package struct Region: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
      self.x = x
      self.y = y
      self.width = width
      self.height = height
    }
  }

  /// The width of the picture as it is seen, before any reduction.
  public let imageWidth: Int
  /// The height of the picture as it is seen, before any reduction.
  public let imageHeight: Int
  /// The width of the model's input.
  public let inputWidth: Int
  /// The height of the model's input.
  public let inputHeight: Int
  /// How many pixels of the picture a pixel of ``source`` stands for, in each direction.
  package let reduction: Int
  /// The part of the picture that the model sees, in pixels of the reduced picture.
  package let source: Region
  /// The part of the input that shows it.
  package let target: Region

  /// Works out which part of a picture goes where; all sizes are positive and at most 32,768.
  ///
  /// - Parameters:
  ///   - region: The part of the picture to fit, in pixels of the reduced picture; nil for all of it.
  ///   - reduction: How many pixels in each direction the picture had for each that it has.
  ///   - original: The size before the reduction; nil if there was none.
  package init(
    imageWidth: Int, imageHeight: Int, inputWidth: Int, inputHeight: Int, fit: FitPolicy,
    region: Region? = nil, reduction: Int = 1, original: (width: Int, height: Int)? = nil
  ) {
    self.imageWidth = original?.width ?? imageWidth
    self.imageHeight = original?.height ?? imageHeight
    self.inputWidth = inputWidth
    self.inputHeight = inputHeight
    self.reduction = reduction
    var source = region ?? Region(x: 0, y: 0, width: imageWidth, height: imageHeight)
    var target = Region(x: 0, y: 0, width: inputWidth, height: inputHeight)
    let (width, height) = (source.width, source.height)
    switch fit {
    case .stretch: break
    case .centerCrop:
      // Which sides are proportionally longer is decided without division.
      if width * inputHeight > inputWidth * height {
        source.width = Self.scaled(height, by: inputWidth, over: inputHeight, limit: width)
      } else {
        source.height = Self.scaled(width, by: inputHeight, over: inputWidth, limit: height)
      }
      source.x += (width - source.width) / 2
      source.y += (height - source.height) / 2
    case .letterbox:
      let ratio = min(Double(inputHeight) / Double(height), Double(inputWidth) / Double(width))
      target.width = Self.scaled(width, by: ratio, limit: inputWidth)
      target.height = Self.scaled(height, by: ratio, limit: inputHeight)
      target.x = (inputWidth - target.width) / 2
      target.y = (inputHeight - target.height) / 2
    case .topLeftLetterbox:
      let ratio = min(Double(inputHeight) / Double(height), Double(inputWidth) / Double(width))
      target.width = min(max(Int(Double(width) * ratio), 1), inputWidth)
      target.height = min(max(Int(Double(height) * ratio), 1), inputHeight)
    }
    self.source = source
    self.target = target
  }

  /// `value · numerator / denominator`, rounded half up, at least 1 and at most `limit`.
  private static func scaled(_ value: Int, by numerator: Int, over denominator: Int, limit: Int) -> Int {
    min(max((2 * value * numerator + denominator) / (2 * denominator), 1), limit)
  }

  /// `value · ratio`, halves to even, at least 1 and at most `limit`.
  private static func scaled(_ value: Int, by ratio: Double, limit: Int) -> Int {
    min(max(Int((Double(value) * ratio).rounded(.toNearestOrEven)), 1), limit)
  }

  /// The pixel position in the picture that a position in the model's input shows.
  ///
  /// Positions in the fill of a letterbox lie outside the picture; NaN stays NaN.
  public func imagePoint(modelX: Float, modelY: Float) -> (x: Float, y: Float) {
    let x = (Double(modelX) * Double(inputWidth) - Double(target.x)) * Double(source.width)
    let y = (Double(modelY) * Double(inputHeight) - Double(target.y)) * Double(source.height)
    return (
      Float((x / Double(target.width) + Double(source.x)) * Double(reduction)),
      Float((y / Double(target.height) + Double(source.y)) * Double(reduction))
    )
  }

  /// The position in the model's input, as fractions, that shows a pixel position of the picture.
  public func modelPoint(imageX: Float, imageY: Float) -> (x: Float, y: Float) {
    let (imageX, imageY) = (Double(imageX) / Double(reduction), Double(imageY) / Double(reduction))
    let x = (imageX - Double(source.x)) * Double(target.width) / Double(source.width)
    let y = (imageY - Double(source.y)) * Double(target.height) / Double(source.height)
    return (
      Float((x + Double(target.x)) / Double(inputWidth)), Float((y + Double(target.y)) / Double(inputHeight))
    )
  }

  /// The pixels of the picture that a model's box covers; not clamped to the picture.
  public func imageRect(ofModelBox box: BoundingBox) -> PixelRect {
    let topLeft = imagePoint(modelX: box.minX, modelY: box.minY)
    let bottomRight = imagePoint(modelX: box.maxX, modelY: box.maxY)
    return PixelRect(
      x: topLeft.x, y: topLeft.y, width: bottomRight.x - topLeft.x, height: bottomRight.y - topLeft.y)
  }

  /// A model's box as fractions of the picture; not clamped to the picture.
  public func imageBox(ofModelBox box: BoundingBox) -> BoundingBox {
    let topLeft = imagePoint(modelX: box.minX, modelY: box.minY)
    let bottomRight = imagePoint(modelX: box.maxX, modelY: box.maxY)
    return BoundingBox(
      minX: topLeft.x / Float(imageWidth), minY: topLeft.y / Float(imageHeight),
      maxX: bottomRight.x / Float(imageWidth), maxY: bottomRight.y / Float(imageHeight))
  }
}
