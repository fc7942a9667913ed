import ApusVision
import Foundation
import Testing

/// A small picture file and the pixels in it.
struct PictureFixture: Sendable, CustomTestStringConvertible {
  let name: String
  let width: Int
  let height: Int
  let format: PixelFormat
  /// How far a value may be off.
  let tolerance: Int
  let orientation: ImageOrientation
  let file: [UInt8]
  let pixels: [UInt8]

  init(
    name: String, width: Int, height: Int, format: PixelFormat, tolerance: Int, orientation: Int,
    file: String,
    pixels: String
  ) {
    self.name = name
    self.width = width
    self.height = height
    self.format = format
    self.tolerance = tolerance
    self.orientation = ImageOrientation(rawValue: orientation) ?? .up
    self.file = Array(Data(base64Encoded: file) ?? Data())
    self.pixels = Array(Data(base64Encoded: pixels) ?? Data())
  }

  var testDescription: String { name }

  static func named(_ name: String) -> PictureFixture {
    all.first { $0.name == name }!
  }
}
