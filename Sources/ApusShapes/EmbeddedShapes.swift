// SPDX-License-Identifier: Apache-2.0

/// The detector and the sample picture that are part of the library: nothing to download, no file to find.
///
/// The model is a uint8 SSD for 160 × 160 RGB pictures, trained on synthetic pictures alone by `Tools/shapes`. Picture
/// and model are stored as base64 literals and decoded anew at each access, so keep what you need.
public enum EmbeddedShapes {
  /// The `.tflite` file, ready for a model to be loaded from memory.
  public static var modelBytes: [UInt8] { decodedBase64(ShapesModel.base64) }

  /// A JPEG file of 640 × 480 pixels that shows every kind of shape.
  public static var pictureBytes: [UInt8] { decodedBase64(ShapesPicture.base64) }

  /// The names of the model's classes, in the order of their indices; there is no entry for the background.
  public static let labels: [String] = ShapesModel.labels

  /// Decodes standard base64. Characters outside its alphabet, the padding among them, are skipped.
  private static func decodedBase64(_ text: StaticString) -> [UInt8] {
    text.withUTF8Buffer { characters in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(characters.count / 4 * 3)
      // The bits not yet written are the low `count` of `bits`: at most 6 + 6, so nothing overflows.
      var bits: UInt32 = 0
      var count: UInt32 = 0
      for index in characters.indices {
        guard let value = sextet(unsafe characters[index]) else { continue }
        bits = (bits << 6 | value) & 0xFFF
        count += 6
        if count >= 8 {
          count -= 8
          bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
      }
      return bytes
    }
  }

  /// The six bits that a base64 character stands for.
  private static func sextet(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
