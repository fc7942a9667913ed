// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusVision

/// The texts of a PNG: a keyword, and a text that may be compressed.
enum PNGText {
  /// The keyword of XMP, and the one under which ImageMagick keeps EXIF as hexadecimal digits.
  private static let xmpKeyword = [UInt8]("XML:com.adobe.xmp".utf8)
  private static let exifKeyword = [UInt8]("Raw profile type exif".utf8)
  /// The maximum number of bytes of a compressed text, as Pillow has it.
  private static let maximumTextBytes = 1 << 20

  /// The orientation in the chunk of EXIF, or else in texts of EXIF or XMP; `.up` where there is none or it is damaged.
  static func orientation(in bytes: [UInt8]) -> ImageOrientation {
    var sources = OrientationSources()
    var profile: PNGChunks.Chunk?
    var packet: PNGChunks.Chunk?
    for chunk in PNGChunks(bytes) {
      switch chunk.type {
      case "eXIf": sources.exif = sources.exif ?? bytes[chunk.data]
      case "tEXt", "zTXt", "iTXt":
        let data = bytes[chunk.data]
        if data.starts(with: exifKeyword + [0]) { profile = chunk }
        if data.starts(with: xmpKeyword + [0]) { packet = chunk }
      default: break
      }
    }
    if sources.exif == nil, let profile {
      sources.exif = text(profile, bytes, exifKeyword).flatMap(bytesOfProfile)
    }
    if let packet { sources.xmp = text(packet, bytes, xmpKeyword) }
    return sources.orientation
  }

  /// The text behind a chunk's keyword; nil where it is damaged or too long.
  private static func text(_ chunk: PNGChunks.Chunk, _ bytes: [UInt8], _ keyword: [UInt8]) -> ArraySlice<
    UInt8
  >? {
    let data = bytes[chunk.data].dropFirst(keyword.count + 1)
    switch chunk.type {
    case "tEXt": return data
    case "zTXt":
      guard data.first == 0 else { return nil }
      return inflated(data.dropFirst())
    default:
      // Whether it is compressed, and how; then the language and the translated keyword, each with a zero behind it.
      guard data.count >= 2, let method = data.dropFirst().first else { return nil }
      let isCompressed = data.first != 0
      let parts = data.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, !isCompressed || method == 0 else { return nil }
      return isCompressed ? inflated(parts[2]) : parts[2]
    }
  }

  private static func inflated(_ data: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    // Two bytes of zlib come first.
    guard data.count > 2, let text = try? Inflate.inflate(data.dropFirst(2), limit: maximumTextBytes) else {
      return nil
    }
    return text[...]
  }

  /// The bytes of a profile: an empty line, its name and its length, then lines of hexadecimal digits.
  private static func bytesOfProfile(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    guard lines.count == 4 else { return nil }
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in lines[3] {
      switch character {
      case 0x09...0x0D, 0x20:
        // Spaces separate bytes, and line feeds nothing.
        if character != UInt8(ascii: "\n"), high != nil { return nil }
        continue
      default: break
      }
      guard let digit = Character(Unicode.Scalar(character)).hexDigitValue else { return nil }
      if let first = high {
        bytes.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    return high == nil ? bytes[...] : nil
  }
}
