// SPDX-License-Identifier: Apache-2.0
import Apus

/// The masks of candidates, as outputs beside boxes and scores: prototypes and each candidate's coefficients, or a map with a mask for each.
struct MaskOutputs: Sendable {
  let prototypes: MaskPrototypes
  /// The coefficients of each candidate; nil where each has a channel of its own.
  let coefficients: BoxScoreHead.Columns?
  /// The number above which a cell is in a mask: 0, or 0.5 of probabilities.
  let threshold: Float

  /// The only other output, if it has a mask for each row of boxes, as RF-DETR has one for each query; nil for others.
  init?(queries rows: Int, of prepared: PreparedModel, besides others: [Int]) {
    let rest = prepared.outputs.indices.filter { !others.contains($0) }
    guard rest.count == 1,
      let masks = MaskPrototypes(
        prepared.outputs[rest[0]], output: rest[0], geometry: prepared.geometry, queries: rows),
      masks.count == rows, prepared.geometry.isProportional(height: masks.height, width: masks.width)
    else { return nil }
    (prototypes, coefficients) = (masks, nil)
    let bounds = try? ValueBounds(ofOutput: rest[0], of: prepared.model)
    threshold = bounds?.isProbability == true ? 0.5 : 0
  }

  /// A map with as many channels as another output has numbers for each row of boxes; nil if there is none.
  ///
  /// - Parameter others: The outputs with boxes, scores and classes, which are no masks.
  init?(_ prepared: PreparedModel, rows: Int, besides others: [Int]) {
    let rest = prepared.outputs.indices.filter { !others.contains($0) }
    for map in rest {
      guard let prototypes = MaskPrototypes(prepared.outputs[map], output: map, geometry: prepared.geometry)
      else {
        continue
      }
      for output in rest where output != map {
        let shape = prepared.outputs[output].shape.dimensions.drop { $0 == 1 }
        let count = prototypes.count
        guard count > 1, shape == [rows, count] || shape == [count, rows] else { continue }
        let isTransposed = shape == [count, rows] && rows != count
        self.prototypes = prototypes
        threshold = 0
        coefficients = .init(
          output: output, first: 0, perRow: isTransposed ? 1 : count, perColumn: isTransposed ? rows : 1,
          count: rows * count)
        return
      }
    }
    return nil
  }
}
