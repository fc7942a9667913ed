// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreGraphics)
  import Apus
  import ApusVision
  import CoreGraphics

  extension ImageBuffer {
    /// Draws an image into sRGB pixels of its size; transparent parts become black.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - orientation: How its rows are to be seen: that of the `UIImage` or file that it came from.
    /// - Throws: `malformedImage` for an empty image, `resourceLimit` for one that is too large or cannot be drawn.
    public init(_ image: CGImage, orientation: ImageOrientation = .up) throws(ApusError) {
      let (width, height) = (image.width, image.height)
      try Self.check(width: width, height: height)
      var bytes = [UInt8](repeating: 0, count: width * height * 4)
      let isDrawn = unsafe bytes.withUnsafeMutableBytes { memory in
        guard let space = CGColorSpace(name: CGColorSpace.sRGB),
          let context = unsafe CGContext(
            data: memory.baseAddress, width: width, height: height, bitsPerComponent: 8,
            bytesPerRow: width * 4, space: space,
            bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue | CGBitmapInfo.byteOrder32Big.rawValue)
        else { return false }
        context.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
        return true
      }
      guard isDrawn else {
        throw ApusError(.resourceLimit, "there is no context for an image of \(width) × \(height) pixels")
      }
      try self.init(bytes: bytes, width: width, height: height, format: .rgba, orientation: orientation)
    }
  }
#endif
