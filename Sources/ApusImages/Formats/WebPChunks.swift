// SPDX-License-Identifier: Apache-2.0

import ApusVision

/// The chunks of a WebP file: four letters and a range of bytes, in a RIFF container.
struct WebPChunks: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var position = 12

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func next() -> (type: String, data: Range<Int>)? {
    guard bytes.count - position >= 8 else { return nil }
    let length = Self.number(bytes, position + 4, 4)
    let start = position + 8
    // Data has an even length.
    position = start + length + length % 2
    return (
      String(decoding: bytes[start - 8..<start - 4], as: UTF8.self),
      start..<Swift.min(start + length, bytes.count)
    )
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
    bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// The size in the first chunk; nil where it is cut off or unknown.
  static func size(in bytes: [UInt8]) -> (width: Int, height: Int)? {
    var chunks = WebPChunks(bytes)
    guard let (type, data) = chunks.next(), data.count >= 10 else { return nil }
    func number(_ offset: Int, _ count: Int) -> Int { Self.number(bytes, data.lowerBound + offset, count) }
    switch type {
    case "VP8 ": return (number(6, 2) & 0x3FFF, number(8, 2) & 0x3FFF)
    case "VP8L": return (number(1, 4) & 0x3FFF + 1, number(1, 4) >> 14 & 0x3FFF + 1)
    case "VP8X": return (number(4, 3) + 1, number(7, 3) + 1)
    default: return nil
    }
  }

  /// The orientation in the EXIF chunk, or else in that of XMP; `.up` where there is none or it is damaged.
  static func orientation(in bytes: [UInt8]) -> ImageOrientation {
    var sources = OrientationSources()
    for (type, data) in WebPChunks(bytes) {
      if type == "EXIF" { sources.exif = sources.exif ?? bytes[data] }
      if type == "XMP " { sources.xmp = sources.xmp ?? bytes[data] }
    }
    return sources.orientation
  }
}
