// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import ApusVision

extension ImageBuffer {
  /// Reads a JPEG, PNG, BMP, WebP or PNM file; its content decides which, not its name.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limits: How large the picture may be.
  ///   - reduction: Whether a JPEG may be read at a smaller scale.
  /// - Throws: `unreadableFile`, `malformedImage` for damage, `unsupportedImage` for a kind that is not read, or
  ///   `resourceLimit`.
  public init(
    contentsOfFile path: String, limits: ImageLimits = ImageLimits(), reduction: ImageReduction = .none
  ) throws(ApusError) {
    let bytes = try Self.bytes(ofFile: path, limits)
    do {
      try self.init(decoding: bytes, limits: limits, reduction: reduction)
    } catch {
      throw ApusError(error.code, "the picture '\(path)': \(error.message)")
    }
  }

  /// The bytes of a picture's file. Of a file of another kind, which may have no end, only the beginning is read.
  private static func bytes(ofFile path: String, _ limits: ImageLimits) throws(ApusError) -> [UInt8] {
    try readWholeFile(at: path, limit: limits.maximumFileSize) { beginning throws(ApusError) in
      do throws(ApusError) { _ = try ImageFileFormat.required(of: beginning) } catch {
        throw ApusError(error.code, "the picture '\(path)': \(error.message)")
      }
    }
  }

  /// Decodes the bytes of a JPEG, PNG, BMP, WebP or PNM file.
  ///
  /// The result is gray, rgb or, where the file has alpha, rgba; nothing is blended or premultiplied. The orientation of a
  /// JPEG, PNG or WebP is in ``orientation``; its pixels are as stored. EXIF says it, or else XMP. Samples are taken as they are,
  /// whatever a file says about light and color spaces; of 16 bits, the high byte. A PNM whose largest sample is less than 255 is
  /// scaled to that. One whose largest sample is more is scaled to 16 bits first. A JPEG that ends early is an error. Damage
  /// inside of one that decoders commonly pass over, such as invalid codes of pixels, is in ``ApusVision/ImageBuffer/flaw``.
  ///
  /// ``ApusVision/ImageBuffer/reduction`` says whether the picture was read at a smaller scale.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - limits: How large the picture may be, before any reduction.
  ///   - reduction: Whether a JPEG may be read at a smaller scale.
  /// - Throws: `malformedImage` for damage, `unsupportedImage` for a kind that is not read, or `resourceLimit`.
  public init(
    decoding bytes: [UInt8], limits: ImageLimits = ImageLimits(), reduction: ImageReduction = .none
  ) throws(ApusError) {
    guard bytes.count <= limits.maximumFileSize else {
      throw ApusError(
        .resourceLimit, "\(bytes.count) bytes are beyond the limit of \(limits.maximumFileSize) for a picture"
      )
    }
    switch try ImageFileFormat.required(of: bytes) {
    case .jpeg: self = try decodeJPEG(bytes, limits: limits, reduction: reduction)
    case .png: self = try decodePNG(bytes, limits: limits)
    case .bmp: self = try BMPDecoder.decode(bytes, limits: limits)
    case .pnm: self = try NetpbmDecoder.decode(bytes, limits: limits)
    case .webp: self = try decodeWebP(bytes, limits: limits)
    }
  }

  /// Reads another file, as ``init(contentsOfFile:limits:reduction:)`` does, into the memory of this picture if it is a JPEG
  /// and fits.
  ///
  /// This is faster for large pictures, because memory is reused. After an error
  /// the picture is one black pixel.
  public mutating func reload(
    contentsOfFile path: String, limits: ImageLimits = ImageLimits(), reduction: ImageReduction = .none
  ) throws(ApusError) {
    let bytes = try Self.bytes(ofFile: path, limits)
    do {
      try reload(decoding: bytes, limits: limits, reduction: reduction)
    } catch {
      throw ApusError(error.code, "the picture '\(path)': \(error.message)")
    }
  }

  /// Decodes other bytes, as ``init(decoding:limits:reduction:)`` does, into the memory of this picture if they are a JPEG
  /// and fit.
  ///
  /// After an error the picture is one black pixel.
  public mutating func reload(
    decoding bytes: [UInt8], limits: ImageLimits = ImageLimits(), reduction: ImageReduction = .none
  ) throws(ApusError) {
    let memory = takeBytes()
    guard bytes.count <= limits.maximumFileSize, ImageFileFormat(detecting: bytes) == .jpeg else {
      self = try ImageBuffer(decoding: bytes, limits: limits, reduction: reduction)
      return
    }
    self = try decodeJPEG(bytes, limits: limits, reduction: reduction, reusing: memory)
  }
}
