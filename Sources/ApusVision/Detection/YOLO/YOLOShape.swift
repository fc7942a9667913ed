// SPDX-License-Identifier: Apache-2.0
import Apus

/// The meaning of a YOLO output's dimensions.
struct YOLOShape: Hashable, Sendable {
  /// The kind of head.
  var layout: DetectorLayout
  /// The number of competing boxes, or of rows in an end-to-end output.
  var rows: Int
  /// The numbers of each.
  var columns: Int
  /// Whether all rows of a column follow each other, as in `[1, 4 + classes, N]`.
  var isTransposed: Bool
  /// The classes that have a score of their own.
  var classes: Int
  /// Where the reading comes from.
  var source: AssumptionSource
  /// Why the output is read so.
  var reason: String

  /// The column of the first class score.
  var firstClass: Int { layout == .yolo5 ? 5 : 4 }
  /// The column behind the class scores: mask coefficients or keypoints.
  var firstExtra: Int { layout == .yoloEndToEnd ? 6 : firstClass + classes }

  /// The cells of the grids that such an input has, for the strides that YOLO's heads have.
  static func cells(width: Int, height: Int, strides: [Int]) -> Int {
    strides.reduce(0) { $0 + ((width + $1 - 1) / $1) * ((height + $1 - 1) / $1) }
  }

  /// The strides of the common heads, then those of large, small and tiny variants.
  static let strides = [[8, 16, 32], [8, 16, 32, 64], [4, 8, 16, 32], [16, 32]]
}
