// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The anchors of a single-shot detector: the boxes that its predictions refer to, by the cells of several grids.
///
/// Layers of equal stride share a grid: a cell then has the anchors of all of them, one after the other.
package struct AnchorGenerator: Hashable, Sendable {
  package typealias Anchor = DetectorMetadata.Anchor

  /// The distance of each layer's cells, in pixels of the input.
  var strides: [Int]
  /// The size of the first layer's anchors, in fractions of the input.
  var minimumScale: Float = 0
  /// The size of the last layer's anchors.
  var maximumScale: Float = 1
  /// Width over height of each anchor of a layer.
  var aspectRatios: [Float] = [1]
  /// Width over height of one more anchor, whose scale is between this layer's and the next one's; nil for none.
  var interpolatedAspectRatio: Float? = 1
  /// Whether the first layer has only three anchors: a tiny one, and two with the ratios 2 and 1/2.
  var reducesFirstLayer = false
  /// Whether all anchors have the size of the input, so that predictions are sizes themselves.
  var isFixedSize = false

  /// The number of anchors for an input; nil if the sides are not those of an input.
  package func count(width: Int, height: Int) -> Int? { grids(width: width, height: height)?.reduce(0, +) }

  /// The number of anchors of each grid for an input; nil if the sides are not those of an input.
  func grids(width: Int, height: Int) -> [Int]? {
    guard width > 0, height > 0, width <= 1 << 13, height <= 1 << 13 else { return nil }
    var grids: [Int] = []
    for (layer, stride) in strides.enumerated() {
      let (columns, rows) = ((width + stride - 1) / stride, (height + stride - 1) / stride)
      if layer == 0 || strides[layer - 1] != stride { grids.append(0) }
      grids[grids.count - 1] += columns * rows * sizes(layer).count
    }
    return grids
  }

  /// The anchors for an input, row by row of each grid, in fractions of the input.
  package func anchors(width: Int, height: Int) -> [Anchor] {
    var anchors: [Anchor] = []
    var layer = 0
    while layer < strides.count {
      let stride = strides[layer]
      var sizes: [(width: Float, height: Float)] = []
      while layer < strides.count, strides[layer] == stride {
        sizes += self.sizes(layer)
        layer += 1
      }
      let (columns, rows) = ((width + stride - 1) / stride, (height + stride - 1) / stride)
      for row in 0..<rows {
        for column in 0..<columns {
          let (x, y) = ((Float(column) + 0.5) / Float(columns), (Float(row) + 0.5) / Float(rows))
          for size in sizes { anchors.append(Anchor(x: x, y: y, width: size.width, height: size.height)) }
        }
      }
    }
    return anchors
  }

  /// The sizes of a layer's anchors.
  private func sizes(_ layer: Int) -> [(width: Float, height: Float)] {
    func size(_ scale: Float, _ ratio: Float) -> (width: Float, height: Float) {
      isFixedSize ? (1, 1) : (scale * ratio.squareRoot(), scale / ratio.squareRoot())
    }
    let scale = self.scale(layer)
    if layer == 0, reducesFirstLayer { return [size(0.1, 1), size(scale, 2), size(scale, 0.5)] }
    var sizes = aspectRatios.map { size(scale, $0) }
    if let interpolatedAspectRatio {
      let next = layer == strides.count - 1 ? 1 : self.scale(layer + 1)
      sizes.append(size((scale * next).squareRoot(), interpolatedAspectRatio))
    }
    return sizes
  }

  private func scale(_ layer: Int) -> Float {
    guard strides.count > 1 else { return (minimumScale + maximumScale) / 2 }
    return minimumScale + (maximumScale - minimumScale) * Float(layer) / Float(strides.count - 1)
  }
}

extension AnchorGenerator {
  /// SSD with MobileNet: 1917 anchors for 300 × 300 pixels.
  package static let sixLayers = AnchorGenerator(
    strides: [16, 32, 64, 128, 256, 512], minimumScale: 0.2, maximumScale: 0.95,
    aspectRatios: [1, 2, 0.5, 3, 0.3333], reducesFirstLayer: true)
  /// BlazeFace for faces near the camera: 896 anchors for 128 × 128 pixels.
  static let shortRangeFaces = AnchorGenerator(strides: [8, 16, 16, 16], isFixedSize: true)
  /// BlazeFace for faces up to five meters away: 2304 anchors for 192 × 192 pixels.
  static let fullRangeFaces = AnchorGenerator(
    strides: [4], interpolatedAspectRatio: nil, isFixedSize: true)
  /// BlazeFace of MediaPipe's former releases for the camera at the back: 896 anchors for 256 × 256 pixels.
  static let backCameraFaces = AnchorGenerator(strides: [16, 32, 32, 32], isFixedSize: true)
  /// MediaPipe's palms: 2016 anchors for 192 × 192 pixels.
  package static let palms = AnchorGenerator(strides: [8, 16, 16, 16], isFixedSize: true)
  /// MediaPipe's people: 2254 anchors for 224 × 224 pixels.
  package static let people = AnchorGenerator(strides: [8, 16, 32, 32, 32], isFixedSize: true)
}
