// SPDX-License-Identifier: Apache-2.0

extension ImageBuffer {
  /// The bytes that a resize reads: pixels, or luma and chroma.
  var resizedBytes: [UInt8] { frame?.bytes ?? bytes }

  /// The stored picture in another format, with tightly packed rows and the same orientation.
  ///
  /// Colors become gray by ``PixelColor/luminance``; gray becomes three equal channels; a missing alpha is
  /// 255, and an alpha that the new format lacks is dropped without blending.
  public func converted(to target: PixelFormat) -> ImageBuffer {
    if target == format, isTightlyPacked { return self }
    let step = format.bytesPerPixel
    let targetStep = target.bytesPerPixel
    var result = [UInt8](repeating: 255, count: width * height * targetStep)
    let (red, green, blue, alpha) = (
      format.redOffset, format.greenOffset, format.blueOffset, format.alphaOffset
    )
    let (targetRed, targetGreen, targetBlue) = (target.redOffset, target.greenOffset, target.blueOffset)
    var output = result.mutableSpan
    let bytes = bytes
    for y in 0..<height {
      let row = bytes.span.extracting(y * bytesPerRow..<y * bytesPerRow + width * step)
      var base = y * width * targetStep
      for x in stride(from: 0, to: width * step, by: step) {
        if target == .gray {
          output[base] =
            format == .gray
            ? row[x] : grayLevel(red: row[x + red], green: row[x + green], blue: row[x + blue])
        } else {
          output[base + targetRed] = row[x + red]
          output[base + targetGreen] = row[x + green]
          output[base + targetBlue] = row[x + blue]
          if let targetAlpha = target.alphaOffset, let alpha { output[base + targetAlpha] = row[x + alpha] }
        }
        base += targetStep
      }
    }
    return ImageBuffer(
      trusted: result, width: width, height: height, format: target, orientation: orientation,
      reduction: reduction, full: storedFullSize)
  }

  /// The picture after orientation: the stored pixels turned and mirrored, tightly packed, with orientation `.up`.
  public func oriented() -> ImageBuffer {
    if orientation == .up, isTightlyPacked { return self }
    let step = format.bytesPerPixel
    let steps = orientation.steps(width: uprightWidth, height: uprightHeight, rowStride: uprightWidth)
    var result = [UInt8](repeating: 0, count: width * height * step)
    var output = result.mutableSpan
    let bytes = bytes
    for y in 0..<height {
      let row = bytes.span.extracting(y * bytesPerRow..<y * bytesPerRow + width * step)
      var target = (steps.origin + y * steps.perRow) * step
      for x in stride(from: 0, to: width * step, by: step) {
        for channel in 0..<step { output[target + channel] = row[x + channel] }
        target += steps.perColumn * step
      }
    }
    return ImageBuffer(
      trusted: result, width: uprightWidth, height: uprightHeight, format: format, reduction: reduction,
      full: (originalWidth, originalHeight))
  }
}
