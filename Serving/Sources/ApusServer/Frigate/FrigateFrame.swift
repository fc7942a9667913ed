// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore

/// A frame as Frigate prepares it for a model: of the model's size, rows of pixels or planes, bytes or `float32`.
struct FrigateFrame {
  /// The range of the numbers of a client's frames, where they are `float32`.
  enum Range {
    /// 0 to 1, as Frigate's `input_dtype` `float` has them.
    case unit
    /// 0 to 255, as `float_denorm` has them.
    case levels
  }

  /// How a tensor of a shape holds a picture.
  struct Layout {
    /// The size of the picture, in pixels.
    struct Size: Equatable {
      let width: Int
      let height: Int
    }

    let size: Size
    /// Whether each color is a plane of its own.
    let isPlanar: Bool

    private static let maximumSide = 8_192

    /// Reads a shape; nil if it is neither `[1, height, width, 3]` nor `[1, 3, height, width]`.
    init?(_ shape: [Int]) {
      let sides = 1...Self.maximumSide
      guard shape.count == 4, shape[0] == 1, shape.allSatisfy(sides.contains),
        shape[3] == 3 || shape[1] == 3
      else { return nil }
      isPlanar = shape[3] != 3
      size =
        isPlanar ? Size(width: shape[3], height: shape[2]) : Size(width: shape[2], height: shape[1])
    }
  }

  /// The frame as a PPM file.
  let file: ByteChunks

  /// Reads a frame.
  ///
  /// Numbers are 0 to 255, as Frigate's `input_dtype` `int` and `float_denorm` have them, or 0 to 1 as `float` has them: no pixel from 0 to 1 is
  /// above 1, and no level from 0 to 255 has a fraction. A frame of 0 and 1 alone shows neither: its range is that of the client's frames before,
  /// and else that of levels, as of noise at night.
  ///
  /// - Parameter range: What the client's frames before have shown, and then what this one shows.
  /// - Throws: `badRequest` for another shape or type, or a number of bytes that is not that of the shape.
  init(shape: [Int], type: String, bytes: [UInt8], range: inout Range?) throws(ServingError) {
    guard let layout = Layout(shape) else {
      throw .bad("shape is \(shape.prefix(8)), not [1, height, width, 3] or [1, 3, height, width]")
    }
    let (width, height) = (layout.size.width, layout.size.height)
    let count = height * width * 3
    let pixels: [UInt8]
    switch type {
    case "uint8" where bytes.count == count: pixels = bytes
    case "float32" where bytes.count == 4 * count: pixels = Self.levels(bytes, count, &range)
    case "uint8", "float32":
      throw .bad("the frame has \(bytes.count) bytes, not those of \(shape) numbers of the type \(type)")
    default: throw .bad("dtype is '\(type.prefix(40))', not uint8 or float32")
    }
    var buffer = ByteBufferAllocator().buffer(capacity: count + 32)
    buffer.writeString("P6\n\(width) \(height)\n255\n")
    if layout.isPlanar {
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
  private static func levels(_ bytes: [UInt8], _ count: Int, _ range: inout Range?) -> [UInt8] {
    func number(_ place: Int) -> Float {
      let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[4 * place + $1]) << (8 * UInt32($1)) }
      return Float(bitPattern: bits)
    }
    var found: Range?
    for place in 0..<count {
      let value = number(place)
      if value > 1 {
        found = .levels
        break
      }
      if value > 0, value < 1 { found = .unit }
    }
    range = found ?? range
    let factor: Float = range == .unit ? 255 : 1
    return (0..<count).map { place in
      let value = number(place) * factor
      return value >= 255 ? 255 : value > 0 ? UInt8(value.rounded()) : 0
    }
  }
}
