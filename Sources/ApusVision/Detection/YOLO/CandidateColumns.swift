// SPDX-License-Identifier: Apache-2.0
import Apus

/// The columns of candidates for a gray picture, which show what they hold: scores of classes are near 0 in most cells.
struct CandidateColumns {
  private let values: [Float]
  private let rows: Int
  private let columns: Int
  private let isTransposed: Bool

  /// A threshold that scores hardly exceed in most cells of a picture without objects.
  private static let quietScore: Float = 0.05

  /// Runs the model on a gray picture; nil if it refuses that.
  init?(_ prepared: PreparedModel, _ output: Int, rows: Int, columns: Int, isTransposed: Bool) {
    guard let values = prepared.probe(output), values.count == rows * columns else { return nil }
    (self.values, self.rows, self.columns, self.isTransposed) = (values, rows, columns, isTransposed)
  }

  private func value(_ row: Int, _ column: Int) -> Float {
    values[isTransposed ? column * rows + row : row * columns + column]
  }

  /// Whether a column can be the scores of a class.
  func isScore(_ column: Int) -> Bool { (0..<rows).allSatisfy { (-0.01...1.01).contains(value($0, column)) } }

  /// Whether a column is unlike scores: away from 0 in most cells.
  func isLoud(_ column: Int) -> Bool {
    let loud = (0..<rows).count { abs(value($0, column)) > Self.quietScore }
    return 2 * loud > rows
  }

  /// The other readings of box-and-class candidates, if columns behind the first class are unlike scores;
  /// empty if there are none.
  ///
  /// An angle is the last column. Keypoints are all behind the first class.
  func alternatives() -> (layouts: [(DetectorLayout, String)], others: [String]) {
    guard columns > 6, !isLoud(4) else { return ([], []) }
    let loud = (5..<columns).filter(isLoud)
    if loud == [columns - 1] { return ([(.yoloOBB, "box, \(columns - 5) classes and an angle")], []) }
    let count = columns - 5
    let isPose = [3, 2].contains { size in
      // Places are away from 0, whatever scores are.
      count.isMultiple(of: size)
        && stride(from: 5, to: columns, by: size).allSatisfy { isLoud($0) && isLoud($0 + 1) }
    }
    guard isPose else { return ([], []) }
    let sizes = [3, 2].filter { count.isMultiple(of: $0) }.map { "\(count / $0)x\($0)" }
      .joined(separator: " or ")
    return ([], ["poses, for 'apus keypoints --keypoints \(sizes)'"])
  }
}
