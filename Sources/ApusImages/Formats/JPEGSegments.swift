// SPDX-License-Identifier: Apache-2.0

/// The segments of a JPEG up to its end or to the header of its first scan, with what each contains.
///
/// Every step moves forward, so damage can only end the walk. So does what the decoder does not take for a segment: it would read on
/// elsewhere, and a limit that is checked here must see the same picture.
struct JPEGSegments: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var position = 2

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether the walk is at bytes that belong to no segment.
  var isAstray: Bool {
    position + 2 <= bytes.count && (bytes[position] != 0xFF || bytes[position + 1] < 0xC0)
  }

  /// Whether a segment is the header of a frame: each kind of frame has a marker of its own.
  static func isFrame(_ marker: UInt8) -> Bool {
    (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
  }

  mutating func next() -> (marker: UInt8, body: ArraySlice<UInt8>)? {
    while position + 4 <= bytes.count, bytes[position] == 0xFF {
      let marker = bytes[position + 1]
      switch marker {
      case 0xFF: position += 1
      case 0x01, 0xD0...0xD8: position += 2
      // 0 is a byte of data, and the others up to 0xBF are reserved.
      case 0x00, 0x02...0xBF, 0xD9: return nil
      default:
        let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
        guard length >= 2, position + 2 + length <= bytes.count else { return nil }
        let body = bytes[position + 4..<position + 2 + length]
        position = marker == 0xDA ? bytes.count : body.endIndex
        return (marker, body)
      }
    }
    return nil
  }
}
