// SPDX-License-Identifier: Apache-2.0
import Apus

/// The output whose channels, or weighted sums of them, are the masks.
struct MaskPrototypes: Hashable, Sendable {
  /// Its position among the model's outputs.
  let output: Int
  let width: Int
  let height: Int
  /// The number of prototypes, and of each object's coefficients; or of the objects' masks.
  let count: Int
  /// Whether each prototype's pixels follow each other.
  let isPlanar: Bool

  /// Sees an output of four dimensions as prototypes: those of a quarter of the input's sides tell channels from the
  /// rest, the input's own order where both would do.
  ///
  /// - Parameter queries: The number of objects, each of which has a channel; nil for prototypes.
  init?(_ tensor: Tensor, output: Int, geometry: InputGeometry, queries: Int? = nil) {
    let shape = tensor.shape
    guard shape.rank == 4, shape[0] == 1, shape.dimensions.allSatisfy({ $0 > 0 }) else { return nil }
    let quarter = (geometry.height / 4, geometry.width / 4)
    var interleaved = (shape[1], shape[2]) == quarter
    var planar = (shape[2], shape[3]) == quarter
    if let queries {
      guard shape[1] == queries || shape[3] == queries else { return nil }
      // Objects that are as many as a side has cells are in the place that makes cells of a quarter.
      if (shape[1] == queries) != (shape[3] == queries) {
        (interleaved, planar) = (shape[3] == queries, shape[1] == queries)
      }
    }
    isPlanar = interleaved == planar ? geometry.isPlanar : planar
    self.output = output
    // More would take minutes for some hundred objects, and no model has as many.
    guard shape.elementCount <= 1 << 26 else { return nil }
    (height, width, count) = isPlanar ? (shape[2], shape[3], shape[1]) : (shape[1], shape[2], shape[3])
    // Each object has as many coefficients.
    guard count <= Self.maximumPrototypes else { return nil }
  }

  /// The maximum number of prototypes; models have 32.
  private static let maximumPrototypes = 1 << 10

  /// How many values the masks of a picture may have together, and how many products may make them: twice what a model
  /// for pictures of 1280 × 1280 needs for 300 objects as large as they.
  static let budget = (values: 1 << 26, products: 1 << 32)

  /// The part of a mask that a box needs, before the threshold at 0; nil beyond what is left of the ``budget``.
  ///
  /// - Parameters:
  ///   - coefficients: The weight of each channel.
  ///   - values: The output's numbers.
  ///   - box: The box in fractions of the input.
  func patch(
    _ coefficients: [Float], in box: BoundingBox, _ values: Span<Float>,
    left: inout (values: Int, products: Int)
  ) -> MaskPatch? {
    guard coefficients.count == count else { return nil }
    return patch(of: 0..<count, coefficients, above: 0, in: box, values, left: &left)
  }

  /// The part of a channel that a box needs, less `threshold`, before the threshold at 0; nil beyond what is left of the ``budget``.
  func patch(
    ofChannel channel: Int, above threshold: Float, in box: BoundingBox, _ values: Span<Float>,
    left: inout (values: Int, products: Int)
  ) -> MaskPatch? {
    guard (0..<count).contains(channel) else { return nil }
    return patch(of: channel..<channel + 1, [1], above: threshold, in: box, values, left: &left)
  }

  private func patch(
    of channels: Range<Int>, _ weights: [Float], above threshold: Float, in box: BoundingBox,
    _ values: Span<Float>, left: inout (values: Int, products: Int)
  ) -> MaskPatch? {
    guard values.count == width * height * count else { return nil }
    // One pixel more on each side, for interpolation.
    func range(_ low: Float, _ high: Float, _ size: Int) -> Range<Int> {
      let first = Int(clamp(low * Float(size) - 1.5, to: Float(size - 1)))
      let last = Int(clamp((high * Float(size) + 1.5).rounded(.up), to: Float(size)))
      return first..<max(last, first + 1)
    }
    let columns = range(box.minX, box.maxX, width)
    let rows = range(box.minY, box.maxY, height)
    // No overflow: the output is limited.
    left.values -= rows.count * columns.count
    left.products -= rows.count * columns.count * channels.count
    guard left.values >= 0, left.products >= 0 else { return nil }
    var patch = [Float](repeating: 0, count: rows.count * columns.count)
    // Both branches read memory in order, and add in equal order.
    if isPlanar {
      for (channel, weight) in zip(channels, weights) {
        var target = 0
        for row in rows {
          let source = (channel * height + row) * width
          for column in columns {
            patch[target] += weight * values[source + column]
            target += 1
          }
        }
      }
    } else {
      var target = 0
      for row in rows {
        for column in columns {
          let source = (row * width + column) * count + channels.lowerBound
          var sum: Float = 0
          for index in 0..<channels.count { sum += weights[index] * values[source + index] }
          patch[target] = sum
          target += 1
        }
      }
    }
    if threshold != 0 { for place in patch.indices { patch[place] -= threshold } }
    return MaskPatch(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count, values: patch,
      gridWidth: width, gridHeight: height)
  }
}

/// A part of a coarse mask: the object is where it is above 0.
struct MaskPatch: Hashable, Sendable {
  /// Where the part begins in the coarse mask.
  let x: Int
  let y: Int
  let width: Int
  let height: Int
  let values: [Float]
  /// The size of the coarse mask, which covers the model's input.
  let gridWidth: Int
  let gridHeight: Int

  /// How often the columns change sides, together.
  var changeCount: Int {
    var count = 0
    for place in values.indices.dropFirst(width) where (values[place] > 0) != (values[place - width] > 0) {
      count += 1
    }
    return count
  }

  /// The value at a position in fractions of the input, interpolated between pixels' centers.
  func value(atX fractionX: Float, y fractionY: Float) -> Float {
    let px = clamp(fractionX * Float(gridWidth) - 0.5 - Float(x), to: Float(width - 1))
    let py = clamp(fractionY * Float(gridHeight) - 0.5 - Float(y), to: Float(height - 1))
    let (left, top) = (Int(px), Int(py))
    let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
    let (wx, wy) = (px - Float(left), py - Float(top))
    let upper = values[top * width + left] * (1 - wx) + values[top * width + right] * wx
    let lower = values[bottom * width + left] * (1 - wx) + values[bottom * width + right] * wx
    return upper * (1 - wy) + lower * wy
  }
}
