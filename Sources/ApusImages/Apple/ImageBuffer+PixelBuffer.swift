// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreVideo)
  import Apus
  import ApusVision
  import CoreVideo

  extension ImageBuffer {
    /// Copies the pixels of a camera's or video's frame.
    ///
    /// - Parameters:
    ///   - pixelBuffer: A frame of one plane: 32 or 24 bits of red, green and blue, in any order, or 8 of gray. Ask
    ///     cameras for `kCVPixelFormatType_32BGRA`.
    ///   - orientation: The orientation in which to view the stored rows.
    /// - Throws: `unsupportedImage` for another pixel format, `malformedImage` for a buffer without memory, or what the
    ///   memberwise initializer throws.
    public init(_ pixelBuffer: CVPixelBuffer, orientation: ImageOrientation = .up) throws(ApusError) {
      let format = try Self.format(of: CVPixelBufferGetPixelFormatType(pixelBuffer))
      let (width, height) = (CVPixelBufferGetWidth(pixelBuffer), CVPixelBufferGetHeight(pixelBuffer))
      try Self.check(width: width, height: height)
      guard CVPixelBufferLockBaseAddress(pixelBuffer, .readOnly) == kCVReturnSuccess else {
        throw ApusError(.malformedImage, "the pixel buffer cannot be locked")
      }
      defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, .readOnly) }
      guard let base = unsafe CVPixelBufferGetBaseAddress(pixelBuffer) else {
        throw ApusError(.malformedImage, "the pixel buffer has no memory")
      }
      let bytesPerRow = CVPixelBufferGetBytesPerRow(pixelBuffer)
      // The last row may end with its last pixel.
      let count = (height - 1) * bytesPerRow + width * format.bytesPerPixel
      try self.init(
        bytes: unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count)), width: width,
        height: height,
        bytesPerRow: bytesPerRow, format: format, orientation: orientation)
    }

    private static func format(of type: OSType) throws(ApusError) -> PixelFormat {
      switch type {
      case kCVPixelFormatType_32BGRA: return .bgra
      case kCVPixelFormatType_32RGBA: return .rgba
      case kCVPixelFormatType_32ARGB: return .argb
      case kCVPixelFormatType_32ABGR: return .abgr
      case kCVPixelFormatType_24RGB: return .rgb
      case kCVPixelFormatType_24BGR: return .bgr
      case kCVPixelFormatType_OneComponent8: return .gray
      default:
        throw ApusError(
          .unsupportedImage,
          "the pixel buffer has the format 0x\(String(type, radix: 16)), not 32BGRA or another of red, green and blue"
        )
      }
    }
  }
#endif
