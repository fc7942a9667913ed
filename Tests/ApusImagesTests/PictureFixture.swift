// SPDX-License-Identifier: Apache-2.0

import ApusVision
import Foundation
import TestSupport
import Testing

/// A small picture file and the pixels that Pillow reads in it; made by `Tools/pictures/generate.py`.
struct PictureFixture: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  let width: Int
  let height: Int
  let format: PixelFormat
  /// How far a value may be off.
  let tolerance: Int
  let orientation: ImageOrientation
  let file: [UInt8]
  let pixels: [UInt8]

  /// Files of every kind.
  static let all: [PictureFixture] = goldens("pictures")

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    name = try fields.decode(String.self, forKey: .name)
    width = try fields.decode(Int.self, forKey: .width)
    height = try fields.decode(Int.self, forKey: .height)
    format = PixelFormat(rawValue: try fields.decode(String.self, forKey: .format)) ?? .rgb
    tolerance = try fields.decode(Int.self, forKey: .tolerance)
    orientation = ImageOrientation(rawValue: try fields.decode(Int.self, forKey: .orientation)) ?? .up
    // JSON has bytes as base64.
    file = Array(try fields.decode(Data.self, forKey: .file))
    pixels = Array(try fields.decode(Data.self, forKey: .pixels))
  }

  private enum Field: CodingKey {
    case name, width, height, format, tolerance, orientation, file, pixels
  }

  var testDescription: String { name }

  static func named(_ name: String) -> PictureFixture {
    all.first { $0.name == name }!
  }
}
