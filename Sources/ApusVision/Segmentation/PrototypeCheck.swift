// SPDX-License-Identifier: Apache-2.0
import Apus

/// Tells the prototypes of a detector's masks from scores of classes: rows of candidates beside them have a coefficient for each.
///
/// YOLO's segmenters, FastSAM and YOLACT have such outputs. A detector joins each candidate's coefficients with the prototypes to its mask.
struct PrototypeCheck {
  /// The rows and columns of an output with rows of candidates, in either order.
  private struct Rows {
    let output: Int
    let sizes: (Int, Int)

    /// How many rows there are of this many columns; nil if the output has no such columns.
    func count(ofColumns columns: Int) -> Int? {
      sizes.1 == columns ? sizes.0 : sizes.0 == columns ? sizes.1 : nil
    }
  }

  /// The numbers of a box.
  private static let boxColumns = 4
  /// The numbers of a found object beside its coefficients: a box, a score and a class.
  private static let objectColumns = 6
  /// The numbers of a candidate beside its coefficients: a box and a score, at least.
  private static let minimumColumns = 5
  /// The rows and columns of pixels in a cell of YOLO's detectors.
  private static let strides = [[8, 16, 32], [8, 16, 32, 64]]

  private let outputs: [Tensor]
  private let rows: [Rows]
  private let height: Int
  /// How many candidates YOLO's detectors have for such an input.
  private let candidateCounts: Set<Int>

  /// Looks for outputs with rows of candidates.
  init(_ prepared: PreparedModel) {
    outputs = prepared.outputs
    rows = prepared.outputs.indices.compactMap { output in
      let sizes = prepared.gridShape(of: output).filter { $0 != 1 }
      return sizes.count == 2 ? Rows(output: output, sizes: (sizes[0], sizes[1])) : nil
    }
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    self.height = height
    candidateCounts = Set(
      Self.strides.flatMap { strides in
        let cells = strides.reduce(0) { $0 + ((width + $1 - 1) / $1) * ((height + $1 - 1) / $1) }
        return [cells, 3 * cells]
      })
  }

  /// The outputs that have a coefficient for each channel of a map; empty if there are none.
  ///
  /// Maps with a cell for each pixel are no prototypes.
  private func candidates(for grid: ImageSegmenter.Grid) -> [Tensor] {
    let channels = grid.channels.count
    guard grid.form == .scores, 2 * grid.height <= height else { return [] }
    let others = rows.filter { $0.output != grid.output }
    for found in others {
      if let count = found.count(ofColumns: channels), count > 1,
        let boxes = others.first(where: {
          $0.output != found.output && $0.count(ofColumns: Self.boxColumns) == count
        }),
        // Scores are a third output: boxes and rows of as many numbers as the map has classes may belong to a task of their own.
        outputs.indices.contains(where: {
          ![grid.output, found.output, boxes.output].contains($0)
            && outputs[$0].shape.dimensions.contains(count)
        })
      {
        return [outputs[boxes.output], outputs[found.output]]
      }
      let isOfObjects = found.count(ofColumns: channels + Self.objectColumns) != nil
      let isOfCells = [found.sizes, (found.sizes.1, found.sizes.0)].contains { count, columns in
        candidateCounts.contains(count) && columns >= channels + Self.minimumColumns
      }
      if isOfObjects || isOfCells { return [outputs[found.output]] }
    }
    return []
  }

  /// Refuses prototypes.
  ///
  /// - Parameter names: How many names the caller gives: as many as channels say that these are classes.
  /// - Throws: `invalidArgument` for a map with as many channels as candidates beside it have coefficients.
  func refuse(_ grid: ImageSegmenter.Grid, names: Int?) throws(ApusError) {
    let channels = grid.channels.count
    guard names != channels else { return }
    let candidates = candidates(for: grid)
    guard !candidates.isEmpty else { return }
    throw ApusError(
      .invalidArgument,
      """
      the output \(outputs[grid.output]) has \(channels) numbers for each of \(grid.height)×\(grid.width) cells, beside candidates with \
      as many coefficients (\(candidates.map(\.description).joined(separator: ", "))): prototypes of a detector's masks, no scores of \
      classes; 'apus detect' (ObjectDetector) finds objects with masks, and --labels with \(channels) names says that they are classes
      """)
  }
}
