// SPDX-License-Identifier: Apache-2.0

/// How the stored rows of a picture relate to the picture as you see it: the eight values of EXIF.
public enum ImageOrientation: Int, CaseIterable, Hashable, Sendable {
  /// Stored as seen.
  case up = 1
  /// Mirrored left to right.
  case upMirrored = 2
  /// Turned by 180°.
  case down = 3
  /// Mirrored top to bottom.
  case downMirrored = 4
  /// Rows and columns exchanged.
  case leftMirrored = 5
  /// Seen after turning what is stored 90° clockwise: a phone held upright.
  case right = 6
  /// Rows and columns exchanged and both reversed.
  case rightMirrored = 7
  /// Seen after turning what is stored 90° counterclockwise.
  case left = 8

  /// Whether the width after orientation is the stored height.
  public var swapsSides: Bool { rawValue >= 5 }

  /// Whether stored columns run against the direction that they are seen in.
  package var reversesColumns: Bool {
    switch self {
    case .upMirrored, .down, .rightMirrored, .left: true
    case .up, .downMirrored, .leftMirrored, .right: false
    }
  }

  /// Whether stored rows run against the direction that they are seen in.
  package var reversesRows: Bool {
    switch self {
    case .down, .downMirrored, .right, .rightMirrored: true
    case .up, .upMirrored, .leftMirrored, .left: false
    }
  }

  /// Where stored pixels go in a raster as seen: pixel (column, row) has the index
  /// `origin + column * perColumn + row * perRow`, in pixels.
  package struct Steps: Sendable {
    package let origin: Int
    package let perColumn: Int
    package let perRow: Int
  }

  /// The steps for an upright raster of `width × height` whose rows are `rowStride` pixels apart.
  package func steps(width: Int, height: Int, rowStride: Int) -> Steps {
    let right = swapsSides ? reversesRows : reversesColumns
    let bottom = swapsSides ? reversesColumns : reversesRows
    let column = swapsSides ? rowStride : 1
    let row = swapsSides ? 1 : rowStride
    return Steps(
      origin: (right ? width - 1 : 0) + (bottom ? (height - 1) * rowStride : 0),
      perColumn: reversesColumns ? -column : column,
      perRow: reversesRows ? -row : row)
  }

  /// The rectangle after orientation for a rectangle of stored pixels; `width` and `height` are the stored ones.
  public func upright(_ rect: PixelRect, width: Int, height: Int) -> PixelRect {
    let x = reversesColumns ? Float(width) - rect.x - rect.width : rect.x
    let y = reversesRows ? Float(height) - rect.y - rect.height : rect.y
    return swapsSides
      ? PixelRect(x: y, y: x, width: rect.height, height: rect.width)
      : PixelRect(x: x, y: y, width: rect.width, height: rect.height)
  }

  /// The rectangle of stored pixels for a rectangle after orientation; `width` and `height` are the stored ones.
  public func stored(_ rect: PixelRect, width: Int, height: Int) -> PixelRect {
    let turned =
      swapsSides ? PixelRect(x: rect.y, y: rect.x, width: rect.height, height: rect.width) : rect
    return PixelRect(
      x: reversesColumns ? Float(width) - turned.x - turned.width : turned.x,
      y: reversesRows ? Float(height) - turned.y - turned.height : turned.y,
      width: turned.width, height: turned.height)
  }
}
