// SPDX-License-Identifier: Apache-2.0
import Apus

/// The prototypes of masks and the coefficients of each candidate, as outputs beside boxes and scores.
struct MaskOutputs: Sendable {
  let prototypes: MaskPrototypes
  /// The coefficients of each candidate.
  let coefficients: BoxScoreHead.Columns

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
        coefficients = .init(
          output: output, first: 0, perRow: isTransposed ? 1 : count, perColumn: isTransposed ? rows : 1,
          count: rows * count)
        return
      }
    }
    return nil
  }
}
