// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

#if canImport(CTurboJPEG)
  import CTurboJPEG

  /// Decodes a JPEG as stored, with its EXIF orientation: gray, or rgb for everything else.
  ///
  /// - Parameter memory: Becomes the picture's, where it is large enough: that saves making new pages.
  func decodeJPEG(
    _ bytes: [UInt8], limits: ImageLimits, reduction: ImageReduction, reusing memory: consuming [UInt8] = []
  ) throws(ApusError) -> ImageBuffer {
    guard let handle = unsafe tjInitDecompress() else {
      throw ApusError(.resourceLimit, "there is no memory for a JPEG decoder")
    }
    defer { unsafe tjDestroy(handle) }
    var (width, height, subsampling, colorSpace): (Int32, Int32, Int32, Int32) = (0, 0, -1, -1)
    let status = unsafe bytes.withUnsafeBufferPointer {
      unsafe tjDecompressHeader3(
        handle, $0.baseAddress, UInt($0.count), &width, &height, &subsampling, &colorSpace)
    }
    // A subsampling without a name is reported as an error, though decoding does not need the name.
    guard status == 0 || (width > 0 && height > 0 && colorSpace >= 0) else { throw unsafe failure(handle) }
    guard width > 0, height > 0 else {
      throw ApusError(.malformedImage, "the JPEG ends before its picture, after \(bytes.count) bytes")
    }
    try limits.check(width: Int(width), height: Int(height))
    // At least one block of at most 4,096 pixels needs one bit: what is shorter cannot hold the picture.
    guard Int(width) * Int(height) / 4_096 <= bytes.count * 8 else {
      throw ApusError(
        .malformedImage, "\(bytes.count) bytes are too few for a JPEG of \(width) × \(height) pixels")
    }
    let header = JPEGHeader(bytes)
    guard header.scanCount <= limits.maximumScanCount else {
      throw ApusError(
        .resourceLimit,
        "the JPEG has \(header.scanCount) scans, which is beyond the limit of \(limits.maximumScanCount)")
    }
    let scanned = Int(width) * Int(height) * header.scanCount
    guard header.scanCount == 1 || scanned <= limits.maximumScannedPixelCount else {
      throw ApusError(
        .resourceLimit,
        "the \(header.scanCount) scans of the JPEG have \(scanned) pixels, which is beyond the limit of "
          + "\(limits.maximumScannedPixelCount)")
    }
    let full = (width: Int(width), height: Int(height))
    let factor =
      header.orientation.swapsSides
      ? reduction.factor(width: full.height, height: full.width)
      : reduction.factor(width: full.width, height: full.height)
    // The library finds the scale by the size of its result, which it rounds up.
    (width, height) = (
      Int32((full.width + factor - 1) / factor), Int32((full.height + factor - 1) / factor)
    )
    let isCMYK = colorSpace == Int32(TJCS_CMYK.rawValue) || colorSpace == Int32(TJCS_YCCK.rawValue)
    let isGray = colorSpace == Int32(TJCS_GRAY.rawValue)
    let layout = isCMYK ? TJPF_CMYK : isGray ? TJPF_GRAY : TJPF_RGB
    let count = Int(width) * Int(height) * (isCMYK ? 4 : isGray ? 1 : 3)
    let decoded = try unsafe decompress(
      bytes, header, handle, layout, width, height, resized(memory, to: count))
    var pixels = decoded.pixels
    if isCMYK { pixels = rgb(fromCMYK: pixels, isInverted: header.hasAdobeMarker) }
    var picture = ImageBuffer(
      trusted: pixels, width: Int(width), height: Int(height), format: isGray ? .gray : .rgb,
      orientation: header.orientation, reduction: factor, full: full)
    picture.flaw = decoded.flaw
    return picture
  }

  /// This memory resized, or new memory; its contents are undefined.
  private func resized(_ memory: consuming [UInt8], to count: Int) -> [UInt8] {
    var memory = memory
    guard memory.capacity >= count else {
      return unsafe [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
        // Not visible until the decoder has written each row, or it is set to zero.
        initialized = count
      }
    }
    if memory.count > count {
      memory.removeLast(memory.count - count)
    } else {
      memory.append(contentsOf: repeatElement(0, count: count - memory.count))
    }
    return memory
  }

  private func decompress(
    _ bytes: [UInt8], _ header: JPEGHeader, _ handle: tjhandle, _ layout: TJPF, _ width: Int32,
    _ height: Int32, _ memory: consuming [UInt8]
  ) throws(ApusError) -> (pixels: [UInt8], flaw: String?) {
    guard !header.hasStrayBytes else {
      throw ApusError(.malformedImage, "the JPEG has bytes between its segments that belong to none")
    }
    let early = ApusError(.malformedImage, "the JPEG ends early, after \(bytes.count) bytes")
    // Where only the end marker is missing, a complete scan decodes without a warning once it is added.
    guard header.hasEndMarker || header.hasSingleScan else { throw early }
    let bytes = header.hasEndMarker ? bytes : bytes + [0xFF, 0xD9]
    var pixels = memory
    func decode(_ flags: Int32) -> Int32 {
      unsafe pixels.withUnsafeMutableBufferPointer { target in
        // A decoder that forgives flaws may leave rows untouched: they must not show what was in memory before. One
        // that does not has written each row, or fails.
        if flags & TJFLAG_STOPONWARNING == 0 { unsafe target.update(repeating: 0) }
        return unsafe bytes.withUnsafeBufferPointer {
          unsafe tjDecompress2(
            handle, $0.baseAddress, UInt($0.count), target.baseAddress, width, 0, height,
            Int32(layout.rawValue), TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS | flags)
        }
      }
    }
    if decode(TJFLAG_STOPONWARNING) == 0 { return (pixels, nil) }
    guard unsafe tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) else { throw unsafe failure(handle) }
    let warning = unsafe message(handle)
    guard header.hasEndMarker, !warning.hasPrefix("Premature end of JPEG file") else { throw early }
    // The library keeps the first warning, and calls even an error a warning if one came before it: another
    // message the second time is that of an error.
    guard unsafe decode(0) == 0 || message(handle) == warning else { throw unsafe failure(handle) }
    return (pixels, warning)
  }

  private func rgb(fromCMYK pixels: [UInt8], isInverted: Bool) -> [UInt8] {
    let flip: UInt8 = isInverted ? 0 : 255
    return unsafe [UInt8](unsafeUninitializedCapacity: pixels.count / 4 * 3) { target, initialized in
      for pixel in 0..<pixels.count / 4 {
        let black = Int(pixels[pixel * 4 + 3] ^ flip)
        for channel in 0..<3 {
          let value = Int(pixels[pixel * 4 + channel] ^ flip) * black
          unsafe target.initializeElement(at: pixel * 3 + channel, to: UInt8((value + 127) / 255))
        }
      }
      initialized = pixels.count / 4 * 3
    }
  }

  /// Encodes a tightly packed gray or rgb picture.
  func encodeJPEG(_ image: ImageBuffer, quality: Int) throws(ApusError) -> [UInt8] {
    guard let handle = unsafe tjInitCompress() else {
      throw ApusError(.resourceLimit, "there is no memory for a JPEG encoder")
    }
    defer { unsafe tjDestroy(handle) }
    let isGray = image.format == .gray
    let sampling = isGray ? TJSAMP_GRAY : quality >= 90 ? TJSAMP_444 : TJSAMP_420
    var output: UnsafeMutablePointer<UInt8>?
    defer { unsafe tjFree(output) }
    var size: UInt = 0
    let status = unsafe image.bytes.withUnsafeBufferPointer {
      unsafe tjCompress2(
        handle, $0.baseAddress, Int32(image.width), Int32(image.bytesPerRow), Int32(image.height),
        Int32((isGray ? TJPF_GRAY : TJPF_RGB).rawValue), &output, &size, Int32(sampling.rawValue),
        Int32(quality), TJFLAG_ACCURATEDCT)
    }
    guard status == 0, let output = unsafe output else { throw unsafe failure(handle) }
    return unsafe Array(UnsafeBufferPointer(start: output, count: Int(size)))
  }

  private func message(_ handle: tjhandle) -> String {
    unsafe tjGetErrorStr2(handle).map { unsafe String(cString: $0) } ?? "unknown"
  }

  private func failure(_ handle: tjhandle) -> ApusError {
    let text = unsafe message(handle)
    return ApusError(
      text.contains("Unsupported") || text.contains("not supported") ? .unsupportedImage : .malformedImage,
      "the JPEG library says: \(text)")
  }
#else
  func decodeJPEG(
    _ bytes: [UInt8], limits: ImageLimits, reduction: ImageReduction, reusing memory: consuming [UInt8] = []
  ) throws(ApusError) -> ImageBuffer {
    throw ApusError(.unsupportedImage, "this build does not read JPEG")
  }

  func encodeJPEG(_ image: ImageBuffer, quality: Int) throws(ApusError) -> [UInt8] {
    throw ApusError(.unsupportedImage, "this build does not write JPEG")
  }
#endif
