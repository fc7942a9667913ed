// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// The functions of libwebp that decoding needs, as its header `webp/decode.h` declares them.
@safe private struct WebPLibrary: Sendable {
  typealias Features =
    @convention(c) (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int32>?, Int32) -> Int32
  typealias Decode =
    @convention(c) (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, Int32) ->
    UnsafeMutablePointer<
      UInt8
    >?

  let features: Features
  let decodeRGB: Decode
  let decodeRGBA: Decode

  /// The version of the structure that the features are; only its high byte has to be the library's.
  static let version: Int32 = 0x0208
  /// The numbers in that structure: width, height, alpha, animation, format, and five that are unused.
  static let featureCount = 10

  /// The library; nil where it is not installed.
  static let loaded: WebPLibrary? = {
    guard let library = LoadedLibrary(["libwebp.so.7", "libwebp.so.6", "libwebp.7.dylib"]),
      let features = unsafe library.function("WebPGetFeaturesInternal", Features.self),
      let decodeRGB = unsafe library.function("WebPDecodeRGBInto", Decode.self),
      let decodeRGBA = unsafe library.function("WebPDecodeRGBAInto", Decode.self)
    else { return nil }
    return unsafe WebPLibrary(features: features, decodeRGB: decodeRGB, decodeRGBA: decodeRGBA)
  }()
}

/// Decodes a WebP as stored, with its EXIF orientation: rgb, or rgba where it has alpha, not blended.
func decodeWebP(_ bytes: [UInt8], limits: ImageLimits) throws(ApusError) -> ImageBuffer {
  guard let library = WebPLibrary.loaded else {
    throw ApusError(
      .unsupportedImage,
      "reading WebP needs the library libwebp, which is not installed (Debian's package libwebp7); "
        + "or convert the picture to JPEG or PNG")
  }
  var features = [Int32](repeating: 0, count: WebPLibrary.featureCount)
  let status = unsafe bytes.withUnsafeBufferPointer { source in
    unsafe features.withUnsafeMutableBufferPointer {
      unsafe library.features(source.baseAddress, source.count, $0.baseAddress, WebPLibrary.version)
    }
  }
  guard status == 0 else { throw failure(status, bytes) }
  let (width, height, hasAlpha) = (Int(features[0]), Int(features[1]), features[2] != 0)
  guard features[3] == 0 else {
    throw ApusError(
      .unsupportedImage,
      """
      the WebP is animated, and only still pictures are read; take one of its pictures, for example with \
      'magick animation.webp[0] picture.png', or make a film of all, such as an MP4, for 'apus watch'
      """)
  }
  try limits.check(width: width, height: height)
  let format: PixelFormat = hasAlpha ? .rgba : .rgb
  let rowBytes = width * format.bytesPerPixel
  // The decoder works in as much memory again, or more.
  try requireMemory(3 * rowBytes * height, for: "a picture of \(width) × \(height) pixels")
  var isDecoded = false
  let pixels = unsafe [UInt8](unsafeUninitializedCapacity: rowBytes * height) { target, initialized in
    unsafe target.initialize(repeating: 0)
    isDecoded = unsafe bytes.withUnsafeBufferPointer { source in
      unsafe (hasAlpha ? library.decodeRGBA : library.decodeRGB)(
        source.baseAddress, source.count, target.baseAddress, rowBytes * height, Int32(rowBytes)) != nil
    }
    initialized = rowBytes * height
  }
  guard isDecoded else { throw failure(3, bytes) }
  return try ImageBuffer(
    bytes: pixels, width: width, height: height, format: format,
    orientation: WebPChunks.orientation(in: bytes))
}

/// An error for a status of the library: 7 means that the file ends early.
private func failure(_ status: Int32, _ bytes: [UInt8]) -> ApusError {
  ApusError(
    .malformedImage,
    status == 7 ? "the WebP ends early, after \(bytes.count) bytes" : "the WebP is damaged, or ends early")
}
