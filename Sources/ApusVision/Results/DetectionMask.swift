// SPDX-License-Identifier: Apache-2.0

/// Which pixels of its box an object covers.
public struct DetectionMask: Hashable, Sendable {
  /// The left edge, in whole pixels of the picture after orientation.
  public let x: Int
  /// The top edge.
  public let y: Int
  /// The width.
  public let width: Int
  /// The height.
  public let height: Int

  private let patch: MaskPatch
  private let placement: Placement

  /// A mask inside a box of the picture; nil if the box covers no pixel.
  init?(_ patch: MaskPatch, in rect: PixelRect, _ placement: Placement) {
    // A pixel belongs to the box where its left and top edges do.
    let left = Int(clamp(rect.x.rounded(.up), to: Float(placement.imageWidth)))
    let top = Int(clamp(rect.y.rounded(.up), to: Float(placement.imageHeight)))
    let right = Int(clamp(rect.maxX.rounded(.up), to: Float(placement.imageWidth)))
    let bottom = Int(clamp(rect.maxY.rounded(.up), to: Float(placement.imageHeight)))
    guard left < right, top < bottom else { return nil }
    (x, y, width, height) = (left, top, right - left, bottom - top)
    self.patch = patch
    self.placement = placement
  }

  /// The pixels of the box, row by row: 1 inside the object, else 0.
  ///
  /// Computed anew at each call, in time proportional to the box.
  public func pixels() -> [UInt8] {
    let transform = placement.transform
    var pixels = [UInt8](repeating: 0, count: width * height)
    // Rows and columns are mapped apart, as no picture is turned on its way to the model.
    let columns = (0..<width).map { column in
      transform.modelPoint(imageX: Float(x + column) + 0.5, imageY: 0).x
    }
    var target = 0
    for row in 0..<height {
      let modelY = transform.modelPoint(imageX: 0, imageY: Float(y + row) + 0.5).y
      for column in columns {
        if patch.value(atX: column, y: modelY) > 0 { pixels[target] = 1 }
        target += 1
      }
    }
    return pixels
  }

  /// Runs of pixels outside and inside in turn, down the columns of the whole picture, beginning outside: the uncompressed
  /// run-length encoding of COCO.
  func runLengths() -> [Int] {
    let pixels = pixels()
    var runs: [Int] = []
    var (isInside, length) = (false, 0)
    func append(_ value: Bool, _ count: Int) {
      guard count > 0 else { return }
      if value != isInside {
        runs.append(length)
        (isInside, length) = (value, 0)
      }
      length += count
    }
    append(false, x * placement.imageHeight)
    for column in 0..<width {
      append(false, y)
      for row in 0..<height { append(pixels[row * width + column] == 1, 1) }
      append(false, placement.imageHeight - y - height)
    }
    append(false, (placement.imageWidth - x - width) * placement.imageHeight)
    runs.append(length)
    return runs
  }
}

extension DetectionMask: Encodable {
  private enum CodingKeys: CodingKey {
    case size, counts
  }

  /// Encodes COCO's uncompressed run-length encoding: `size`, height and width of the picture, and `counts`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode([placement.imageHeight, placement.imageWidth], forKey: .size)
    try container.encode(runLengths(), forKey: .counts)
  }
}
