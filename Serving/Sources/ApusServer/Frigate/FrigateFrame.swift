// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore

/// A frame as Frigate prepares it for a model: of the model's size, rows of pixels or planes, bytes or `float32`.
struct FrigateFrame {
  /// The frame as a PPM file.
  let file: ByteChunks

  private static let maximumSide = 8_192

  /// Reads a frame.
  ///
  /// Numbers are 0 to 255, as Frigate's `input_dtype` `int` and `float_denorm` have them, or 0 to 1 as `float` has them: where no number
  /// is above 1, they are taken for the latter.
  ///
  /// - Throws: `badRequest` for another shape or type, or a number of bytes that is not that of the shape.
  init(shape: [Int], type: String, bytes: [UInt8]) throws(ServingError) {
    let sides = 1...Self.maximumSide
    guard shape.count == 4, shape[0] == 1, shape.allSatisfy(sides.contains),
      shape[3] == 3 || shape[1] == 3
    else { throw .bad("shape is \(shape.prefix(8)), not [1, height, width, 3] or [1, 3, height, width]") }
    let isPlanar = shape[3] != 3
    let (height, width) = isPlanar ? (shape[2], shape[3]) : (shape[1], shape[2])
    let count = height * width * 3
    let pixels: [UInt8]
    switch type {
    case "uint8" where bytes.count == count: pixels = bytes
    case "float32" where bytes.count == 4 * count: pixels = Self.levels(bytes, count)
    case "uint8", "float32":
      throw .bad("the frame has \(bytes.count) bytes, not those of \(shape) numbers of the type \(type)")
    default: throw .bad("dtype is '\(type.prefix(40))', not uint8 or float32")
    }
    var buffer = ByteBufferAllocator().buffer(capacity: count + 32)
    buffer.writeString("P6\n\(width) \(height)\n255\n")
    if isPlanar {
      let plane = height * width
      for place in 0..<plane {
        buffer.writeBytes([pixels[place], pixels[plane + place], pixels[2 * plane + place]])
      }
    } else {
      buffer.writeBytes(pixels)
    }
    file = ByteChunks(buffer)
  }

  /// Numbers as levels of pixels; what is no level is the nearest one, NaN is 0.
  private static func levels(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    func number(_ place: Int) -> Float {
      let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[4 * place + $1]) << (8 * UInt32($1)) }
      return Float(bitPattern: bits)
    }
    let isUnit = !(0..<count).contains { number($0) > 1 }
    return (0..<count).map { place in
      let value = number(place) * (isUnit ? 255 : 1)
      return value >= 255 ? 255 : value > 0 ? UInt8(value.rounded()) : 0
    }
  }
}
