// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreGraphics)
  import ApusVision
  import CoreGraphics

  extension CGRect {
    /// A rectangle in pixels, from the top left corner of the picture after orientation.
    public init(_ rect: PixelRect) {
      self.init(
        x: CGFloat(rect.x), y: CGFloat(rect.y), width: CGFloat(rect.width), height: CGFloat(rect.height))
    }
  }

  extension CGPoint {
    /// A point in pixels, from the top left corner of the picture after orientation.
    public init(_ point: PixelPoint) { self.init(x: CGFloat(point.x), y: CGFloat(point.y)) }
  }
#endif

#if canImport(ImageIO)
  import ApusVision
  import ImageIO

  extension ImageOrientation {
    /// The orientation of a picture of Image I/O, Core Image or Vision: both are EXIF's.
    public init(_ orientation: CGImagePropertyOrientation) {
      self = ImageOrientation(rawValue: Int(orientation.rawValue)) ?? .up
    }
  }
#endif
