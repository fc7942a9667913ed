// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

#if canImport(CPNG)
  import CPNG

  /// Decodes a PNG of any kind to 8 bits: gray, rgb, or rgba where it has transparency, not blended. What it says about light is
  /// ignored, its orientation is not.
  func decodePNG(_ bytes: [UInt8], limits: ImageLimits) throws(ApusError) -> ImageBuffer {
    let (width, height) = try checkHeader(bytes, limits)
    var image =
      DeepPNGDecoder.accepts(bytes)
      ? try DeepPNGDecoder.decode(bytes, width: width, height: height)
      : try decodeSamples(PNGChunks.withoutColorSpace(bytes), limits: limits)
    image.orientation = PNGText.orientation(in: bytes)
    return image
  }

  private func decodeSamples(_ bytes: [UInt8], limits: ImageLimits) throws(ApusError) -> ImageBuffer {
    var control = unsafe png_image()
    unsafe control.version = png_uint_32(PNG_IMAGE_VERSION)
    // The library keeps the address of the control structure between the calls.
    return try unsafe withUnsafeMutablePointer(to: &control) { (control) throws(ApusError) -> ImageBuffer in
      defer { unsafe png_image_free(control) }
      return try unsafe bytes.withUnsafeBufferPointer { (source) throws(ApusError) -> ImageBuffer in
        try unsafe decode(source, control, limits)
      }
    }
  }

  private func decode(
    _ source: UnsafeBufferPointer<UInt8>, _ control: UnsafeMutablePointer<png_image>, _ limits: ImageLimits
  ) throws(ApusError) -> ImageBuffer {
    guard unsafe png_image_begin_read_from_memory(control, source.baseAddress, source.count) != 0 else {
      throw unsafe failure(control.pointee)
    }
    let (width, height) = unsafe (Int(control.pointee.width), Int(control.pointee.height))
    try limits.check(width: width, height: height)
    let hasColor = unsafe control.pointee.format & png_uint_32(PNG_FORMAT_FLAG_COLOR) != 0
    let hasAlpha = unsafe control.pointee.format & png_uint_32(PNG_FORMAT_FLAG_ALPHA) != 0
    let format: PixelFormat = hasAlpha ? .rgba : hasColor ? .rgb : .gray
    var layout = png_uint_32(hasColor || hasAlpha ? PNG_FORMAT_FLAG_COLOR : 0)
    if hasAlpha { layout |= png_uint_32(PNG_FORMAT_FLAG_ALPHA) }
    unsafe control.pointee.format = layout
    let rowBytes = width * format.bytesPerPixel
    var status: Int32 = 0
    let pixels = unsafe [UInt8](unsafeUninitializedCapacity: rowBytes * height) { target, initialized in
      unsafe target.initialize(repeating: 0)
      status = unsafe png_image_finish_read(control, nil, target.baseAddress, png_int_32(rowBytes), nil)
      initialized = rowBytes * height
    }
    guard status != 0 else { throw unsafe failure(control.pointee) }
    return try ImageBuffer(bytes: pixels, width: width, height: height, format: format)
  }

  /// Refuses impossible dimensions before the library allocates for them. Deflate expands by 1,032 at most.
  private func checkHeader(_ bytes: [UInt8], _ limits: ImageLimits) throws(ApusError) -> (
    width: Int, height: Int
  ) {
    guard bytes.count >= 33 else {
      throw ApusError(.malformedImage, "the PNG ends after \(bytes.count) bytes, within its header")
    }
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    let first = String(decoding: bytes[12..<16], as: UTF8.self)
    guard first != "CgBI" else {
      throw ApusError(
        .unsupportedImage,
        """
        the PNG is one that Xcode has rewritten for iOS (CgBI), which is no PNG for other programs; take the picture from the app's \
        sources, or write it anew with Apple's tools: 'xcrun -sdk iphoneos pngcrush -revert-iphone-optimizations icon.png picture.png'
        """)
    }
    guard first == "IHDR" else {
      throw ApusError(.malformedImage, "the PNG begins with the chunk '\(first)', not with its header (IHDR)")
    }
    let (width, height) = (number(16), number(20))
    try limits.check(width: width, height: height)
    let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][bytes[25]] ?? 1
    guard width * height * channels * Int(bytes[24]) / 8 / 1_032 <= bytes.count else {
      throw ApusError(
        .malformedImage, "\(bytes.count) bytes are too few for a PNG of \(width) × \(height) pixels")
    }
    return (width, height)
  }

  /// Encodes a tightly packed gray, rgb or rgba picture.
  func encodePNG(_ image: ImageBuffer) throws(ApusError) -> [UInt8] {
    var control = unsafe png_image()
    unsafe control.version = png_uint_32(PNG_IMAGE_VERSION)
    unsafe control.width = png_uint_32(image.width)
    unsafe control.height = png_uint_32(image.height)
    var layout = png_uint_32(image.format == .gray ? 0 : PNG_FORMAT_FLAG_COLOR)
    if image.format == .rgba { layout |= png_uint_32(PNG_FORMAT_FLAG_ALPHA) }
    unsafe control.format = layout
    // Of pictures larger than most cameras take, a file that is up to twice as large, in a third of the time.
    if image.width * image.height > 1 << 26 {
      unsafe control.flags |= png_uint_32(PNG_IMAGE_FLAG_FAST)
    }
    defer { unsafe png_image_free(&control) }
    // The rows, and a generous bound on the bytes that deflate and the chunks add if they are incompressible.
    let capacity = image.bytes.count + image.height + image.bytes.count / 4 + 4_096
    var status: Int32 = 0
    let result = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { target, initialized in
      var size = png_alloc_size_t(capacity)
      status = unsafe image.bytes.withUnsafeBufferPointer {
        unsafe png_image_write_to_memory(
          &control, target.baseAddress, &size, 0, $0.baseAddress, png_int_32(image.bytesPerRow), nil)
      }
      initialized = status != 0 ? min(Int(size), capacity) : 0
    }
    guard status != 0 else { throw unsafe failure(control) }
    return result
  }

  private func failure(_ control: png_image) -> ApusError {
    let text = unsafe withUnsafeBytes(of: control.message) { message in
      unsafe String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
    }
    return ApusError(.malformedImage, "the PNG library says: \(text)")
  }
#else
  func decodePNG(_ bytes: [UInt8], limits: ImageLimits) throws(ApusError) -> ImageBuffer {
    throw ApusError(.unsupportedImage, "this build does not read PNG")
  }

  func encodePNG(_ image: ImageBuffer) throws(ApusError) -> [UInt8] {
    throw ApusError(.unsupportedImage, "this build does not write PNG")
  }
#endif
