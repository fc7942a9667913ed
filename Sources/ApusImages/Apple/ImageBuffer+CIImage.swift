// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreImage)
  import Apus
  import ApusVision
  import CoreImage

  extension ImageBuffer {
    /// Renders an image into sRGB pixels of its extent; transparent parts become black.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - context: What renders it; make one and keep it, as that takes long.
    ///   - orientation: How its rows are to be seen.
    /// - Throws: `malformedImage` for an image without or with an infinite extent, `resourceLimit` for one that is too
    ///   large.
    public init(
      _ image: CIImage, context: CIContext, orientation: ImageOrientation = .up
    ) throws(ApusError) {
      let extent = image.extent.integral
      guard !extent.isInfinite, let width = Int(exactly: extent.width),
        let height = Int(exactly: extent.height)
      else { throw ApusError(.malformedImage, "the image has the extent \(image.extent)") }
      try Self.check(width: width, height: height)
      var bytes = [UInt8](repeating: 0, count: width * height * 4)
      unsafe bytes.withUnsafeMutableBytes { memory in
        guard let base = unsafe memory.baseAddress else { return }
        unsafe context.render(
          image, toBitmap: base, rowBytes: width * 4, bounds: extent, format: .RGBA8,
          colorSpace: CGColorSpace(name: CGColorSpace.sRGB))
      }
      try self.init(bytes: bytes, width: width, height: height, format: .rgba, orientation: orientation)
    }
  }
#endif
