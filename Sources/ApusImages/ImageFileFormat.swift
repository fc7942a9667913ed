// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The kinds of picture files that are read.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ImageFileFormat: String, CaseIterable, Hashable, Sendable {
  /// JPEG, baseline and progressive; written too.
  case jpeg
  /// PNG, every bit depth and color type; written too.
  case png
  /// Windows bitmaps of 1, 4, 8, 16, 24 and 32 bits, uncompressed, with bit fields, RLE4 or RLE8.
  case bmp
  /// WebP, lossy and lossless, without animation; read where the library libwebp is installed.
  case webp
  /// The Netpbm formats P1 to P6 with 8 or 16 bits; P5 and P6 are written.
  case pnm

  /// The format whose signature the bytes begin with, or nil.
  public init?(detecting bytes: [UInt8]) {
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if bytes.starts(with: [UInt8(ascii: "B"), UInt8(ascii: "M")]) {
      self = .bmp
    } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
      self = .webp
    } else if bytes.count > 2, bytes[0] == UInt8(ascii: "P"), (0x31...0x36).contains(bytes[1]),
      NetpbmDecoder.isSpace(bytes[2]) || bytes[2] == UInt8(ascii: "#")
    {
      self = .pnm
    } else {
      return nil
    }
  }

  /// The format whose signature the bytes begin with.
  ///
  /// - Throws: `unsupportedImage` with the kind of other bytes, where it is known; `malformedImage` if there are none.
  package static func required(of bytes: [UInt8]) throws(ApusError) -> ImageFileFormat {
    if let format = ImageFileFormat(detecting: bytes) { return format }
    guard !bytes.isEmpty else { throw ApusError(.malformedImage, "there are no bytes") }
    guard let kind = FileKind(beginning: Array(bytes.prefix(FileKind.beginningByteCount))) else {
      throw ApusError(.unsupportedImage, "the bytes are not JPEG, PNG, BMP, WebP or PNM")
    }
    throw ApusError(.unsupportedImage, kind.insteadOfPicture("JPEG, PNG, BMP, WebP or PNM"))
  }

  /// The format that a path's extension names, or nil: `jpg`, `jpeg`, `jpe`, `jfif`, `png`, `bmp`, `webp`, `ppm`, `pgm`,
  /// `pbm`, `pnm`.
  public init?(path: String) {
    guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
    switch path[path.index(after: dot)...].lowercased() {
    case "jpg", "jpeg", "jpe", "jfif": self = .jpeg
    case "png": self = .png
    case "bmp": self = .bmp
    case "webp": self = .webp
    case "ppm", "pgm", "pbm", "pnm": self = .pnm
    default: return nil
    }
  }
}
