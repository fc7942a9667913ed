// SPDX-License-Identifier: Apache-2.0
import ApusFormat

/// The anchors of the single-shot detectors that the TensorFlow Object Detection API exports, for models that do not
/// bring theirs.
enum SSDAnchors {
  typealias Anchor = DetectorMetadata.Anchor

  /// A set of anchors with the name of its rule.
  struct Generated {
    let anchors: [Anchor]
    let rule: String
  }

  /// The rule that makes this many anchors for an input of this size; nil if none does.
  static func generated(count: Int, width: Int, height: Int) -> Generated? {
    // Far more than any model has; avoids useless work.
    guard count <= 1 << 20, width <= 1 << 13, height <= 1 << 13 else { return nil }
    for (make, rule) in [(sixLayers, "SSD: six layers, scales 0.2 to 0.95"), (pyramid, "FPN: levels 3 to 7")]
    {
      let anchors = make(width, height)
      if anchors.count == count { return Generated(anchors: anchors, rule: rule) }
    }
    return nil
  }

  /// SSD with MobileNet: strides 16 to 512, aspect ratios 1, 2, 1/2, 3, 1/3 and one square between two scales; the first
  /// layer has only three.
  private static func sixLayers(_ width: Int, _ height: Int) -> [Anchor] {
    var anchors: [Anchor] = []
    let ratios: [Float] = [1, 2, 0.5, 3, 0.3333]
    for layer in 0..<6 {
      let scale = self.scale(layer)
      var sizes: [(width: Float, height: Float)]
      if layer == 0 {
        sizes = [(0.1, 1), (scale, 2), (scale, 0.5)].map { size($0.0, $0.1) }
      } else {
        sizes = ratios.map { size(scale, $0) }
        let next = layer == 5 ? 1 : self.scale(layer + 1)
        sizes.append(size((scale * next).squareRoot(), 1))
      }
      let stride = 16 << layer
      let (rows, columns) = ((height + stride - 1) / stride, (width + stride - 1) / stride)
      for row in 0..<rows {
        for column in 0..<columns {
          for size in sizes {
            anchors.append(
              Anchor(
                x: (Float(column) + 0.5) / Float(columns), y: (Float(row) + 0.5) / Float(rows),
                width: size.width, height: size.height))
          }
        }
      }
    }
    return anchors
  }

  private static func scale(_ layer: Int) -> Float { 0.2 + (0.95 - 0.2) * Float(layer) / 5 }

  private static func size(_ scale: Float, _ ratio: Float) -> (width: Float, height: Float) {
    (scale * ratio.squareRoot(), scale / ratio.squareRoot())
  }

  /// SSD with a feature pyramid: levels 3 to 7, four times the stride, two scales an octave, aspect ratios 1, 2, 1/2.
  private static func pyramid(_ width: Int, _ height: Int) -> [Anchor] {
    var anchors: [Anchor] = []
    for level in 3...7 {
      let stride = 1 << level
      let (rows, columns) = ((height + stride - 1) / stride, (width + stride - 1) / stride)
      // Centers are half a stride further where the stride divides the side.
      let offsetY = height.isMultiple(of: stride) ? Float(stride) / 2 : 0
      let offsetX = width.isMultiple(of: stride) ? Float(stride) / 2 : 0
      for row in 0..<rows {
        for column in 0..<columns {
          for ratio: Float in [1, 2, 0.5] {
            for scale: Float in [1, Float(2).squareRoot()] {
              let base = 4 * Float(stride) * scale
              anchors.append(
                Anchor(
                  x: (Float(column * stride) + offsetX) / Float(width),
                  y: (Float(row * stride) + offsetY) / Float(height),
                  width: base * ratio.squareRoot() / Float(width),
                  height: base / ratio.squareRoot() / Float(height)))
            }
          }
        }
      }
    }
    return anchors
  }
}
