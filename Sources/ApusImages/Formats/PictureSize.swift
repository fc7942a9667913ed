// SPDX-License-Identifier: Apache-2.0
import ApusVision

extension ImageBuffer {
  /// The stored width and height in a picture file's header, without decoding it; nil if there is none.
  ///
  /// Nothing is checked: decoding decides whether the file is a picture.
  public static func storedSize(ofFile bytes: [UInt8]) -> (width: Int, height: Int)? {
    func big(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - count else { return nil }
      return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
    func little(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - count else { return nil }
      return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    var found: (Int?, Int?)
    switch ImageFileFormat(detecting: bytes) {
    case .png: found = (big(16, 4), big(20, 4))
    case .bmp:
      let isCore = little(14, 4) == 12
      found = isCore ? (little(18, 2), little(20, 2)) : (little(18, 4), little(22, 4))
      // The height of a bitmap from top to bottom is negative.
      if !isCore, let height = found.1 { found.1 = abs(Int(Int32(truncatingIfNeeded: height))) }
    case .jpeg: found = jpegSize(bytes, big)
    case .pnm: found = netpbmSize(bytes)
    case nil: return nil
    }
    guard let width = found.0, let height = found.1 else { return nil }
    return (width, height)
  }

  /// The size in the first frame header; every step moves forward.
  private static func jpegSize(_ bytes: [UInt8], _ big: (Int, Int) -> Int?) -> (Int?, Int?) {
    var position = 2
    while position + 4 <= bytes.count, bytes[position] == 0xFF {
      let marker = bytes[position + 1]
      switch marker {
      case 0xFF: position += 1
      case 0x01, 0xD0...0xD8: position += 2
      case 0xD9, 0xDA: return (nil, nil)
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
        return (big(position + 7, 2), big(position + 5, 2))
      default:
        guard let length = big(position + 2, 2), length >= 2 else { return (nil, nil) }
        position += 2 + length
      }
    }
    return (nil, nil)
  }

  /// The first two numbers, past white space and comments.
  private static func netpbmSize(_ bytes: [UInt8]) -> (Int?, Int?) {
    var numbers: [Int] = []
    var position = 2
    while position < bytes.count, numbers.count < 2 {
      let byte = bytes[position]
      if byte == UInt8(ascii: "#") {
        while position < bytes.count, bytes[position] != 0x0A { position += 1 }
      } else if (0x30...0x39).contains(byte) {
        var value = 0
        while position < bytes.count, (0x30...0x39).contains(bytes[position]), value < 1 << 30 {
          value = value * 10 + Int(bytes[position]) - 0x30
          position += 1
        }
        numbers.append(value)
      } else {
        position += 1
      }
    }
    return numbers.count == 2 ? (numbers[0], numbers[1]) : (nil, nil)
  }
}
