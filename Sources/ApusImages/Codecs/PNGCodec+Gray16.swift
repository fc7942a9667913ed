// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

#if canImport(CPNG)
  import CPNG

  /// Encodes one number of 16 bits for each pixel as gray: the numbers themselves. The library calls them linear light in
  /// chunks that are taken out again.
  ///
  /// - Parameter values: As many as there are pixels, row by row.
  package func encodeGray16PNG(_ values: [UInt16], width: Int, height: Int) throws(ApusError) -> [UInt8] {
    precondition(values.count == width * height && width > 0)
    var control = unsafe png_image()
    unsafe control.version = png_uint_32(PNG_IMAGE_VERSION)
    unsafe control.width = png_uint_32(width)
    unsafe control.height = png_uint_32(height)
    unsafe control.format = png_uint_32(PNG_FORMAT_FLAG_LINEAR)
    defer { unsafe png_image_free(&control) }
    // The rows, and a generous bound on the bytes that deflate and the chunks add if they are incompressible.
    let capacity = 2 * values.count + height + values.count / 2 + 4_096
    var status: Int32 = 0
    let result = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { target, initialized in
      var size = png_alloc_size_t(capacity)
      status = unsafe values.withUnsafeBufferPointer {
        unsafe png_image_write_to_memory(
          &control, target.baseAddress, &size, 0, $0.baseAddress, png_int_32(width), nil)
      }
      initialized = status != 0 ? min(Int(size), capacity) : 0
    }
    guard status != 0 else {
      let text = unsafe withUnsafeBytes(of: control.message) { message in
        unsafe String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw ApusError(.malformedImage, "the PNG library says: \(text)")
    }
    return PNGChunks.withoutColorSpace(result)
  }
#else
  package func encodeGray16PNG(_ values: [UInt16], width: Int, height: Int) throws(ApusError) -> [UInt8] {
    throw ApusError(.unsupportedImage, "this build does not write PNG")
  }
#endif
