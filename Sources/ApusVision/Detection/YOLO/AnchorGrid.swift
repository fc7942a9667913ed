// SPDX-License-Identifier: Apache-2.0
import Apus

/// Where the numbers of a raw YOLO head's grid lie.
struct AnchorGrid: Hashable, Sendable {
  let output: Int
  /// In cells.
  let width: Int
  /// In cells.
  let height: Int
  /// The numbers of each anchor.
  let columns: Int
  let perCell: Int
  let perAnchor: Int
  let perColumn: Int
  /// All numbers.
  let count: Int

  /// Reads a shape as `1×height×width×(anchors·columns)`, or with channels first, or with the anchors apart; nil if it is none of them.
  init?(_ shape: TensorShape, output: Int, stride: Int, anchors: Int, width: Int, height: Int) {
    let (rows, across) = ((height + stride - 1) / stride, (width + stride - 1) / stride)
    let cells = rows * across
    let dimensions = shape.dimensions
    guard dimensions.first == 1 else { return nil }
    let tail = Array(dimensions.dropFirst())
    switch tail.count {
    case 3 where tail[0] == rows && tail[1] == across && tail[2].isMultiple(of: anchors):
      columns = tail[2] / anchors
      (perCell, perAnchor, perColumn) = (tail[2], columns, 1)
    case 3 where tail[1] == rows && tail[2] == across && tail[0].isMultiple(of: anchors):
      columns = tail[0] / anchors
      (perCell, perAnchor, perColumn) = (1, columns * cells, cells)
    case 4 where tail[0] == rows && tail[1] == across && tail[2] == anchors:
      columns = tail[3]
      (perCell, perAnchor, perColumn) = (anchors * columns, columns, 1)
    case 4 where tail[0] == anchors && tail[1] == rows && tail[2] == across:
      columns = tail[3]
      (perCell, perAnchor, perColumn) = (columns, columns * cells, 1)
    case 4 where tail[0] == anchors && tail[2] == rows && tail[3] == across:
      columns = tail[1]
      (perCell, perAnchor, perColumn) = (1, columns * cells, cells)
    default: return nil
    }
    guard columns > 5 else { return nil }
    self.output = output
    (self.width, self.height) = (across, rows)
    count = cells * anchors * columns
  }
}
