// SPDX-License-Identifier: Apache-2.0
import Apus

/// The outputs that layouts have, for errors, and the layouts that a number of rows excludes.
struct LayoutShapes {
  private let prepared: PreparedModel
  private let width: Int
  private let height: Int

  init(_ prepared: PreparedModel) {
    self.prepared = prepared
    (width, height) = (prepared.geometry.width, prepared.geometry.height)
  }

  /// The cells of the grids that heads have, the common ones first.
  private var cellCounts: [Int] {
    YOLOShape.strides.map { YOLOShape.cells(width: width, height: height, strides: $0) }
  }

  /// The outputs of a layout for this input, such as `1×504×(5+classes)`.
  func outputs(of layout: DetectorLayout) -> String {
    let cells = cellCounts[0]
    func maps(_ strides: [Int], _ anchors: Int) -> String {
      strides.map {
        "1×\((height + $0 - 1) / $0)×\((width + $0 - 1) / $0)×\(anchors)·(5+classes)"
      }.joined(separator: " and ")
    }
    return switch layout {
    case .postProcessed: "boxes 1×N×4, classes 1×N, scores 1×N and perhaps a count"
    case .ssd: "boxes 1×N×4 and scores 1×N×classes, or a model with suppression inside"
    case .yolo5: "1×\(3 * cells)×(5+classes)"
    case .yolo8, .yolo10Raw: "1×(4+classes)×\(cells)"
    case .yoloEndToEnd: "1×N×6, a row of corners, score and class for each object"
    case .yolo6, .yolox, .yoloxRaw: "1×\(cells)×(5+classes)"
    case .yolo2: maps([32], 5)
    case .yolo3, .yolo4, .yolo5Raw, .yolo7Raw: maps([8, 16, 32], 3)
    case .yolo3Tiny, .yolo4Tiny: maps([16, 32], 3)
    case .yolo4Boxes: "boxes 1×\(3 * cells)×4 and scores 1×\(3 * cells)×classes"
    case .yoloBestClass: "boxes 1×\(cells)×4, scores 1×\(cells) and classes 1×\(cells)"
    case .yoloNAS: "boxes 1×\(cells)×4 and scores 1×\(cells)×classes"
    case .yolo7EndToEnd, .yoloNASEndToEnd, .efficientDet, .yoloOBBEndToEnd: "1×N×7, a row for each object"
    case .classFirst: "N×6 or 1×N×7, a row for each object, and perhaps a count"
    case .yoloOBB: "1×(4+classes+1)×\(cells)"
    case .rtDETR: "boxes 1×N×4 and scores 1×N×classes, or 1×N×(4+classes), for N queries"
    case .detr: "boxes 1×N×4 and scores 1×N×(classes+1), or 1×N×(4+classes+1), for N queries"
    case .fomo: "1×\((height + 7) / 8)×\((width + 7) / 8)×(1+classes)"
    }
  }

  /// How many candidates a layout has for each cell; nil if candidates are no cells.
  private static func perCell(_ layout: DetectorLayout) -> Int? {
    switch layout {
    case .yolo5, .yolo4Boxes: 3
    case .yolo8, .yolo10Raw, .yolo6, .yolox, .yoloxRaw, .yoloOBB, .yoloNAS: 1
    case .yoloEndToEnd, .rtDETR, .detr: 0
    default: nil
    }
  }

  /// Refuses a layout that the caller chose if the outputs have as many candidates as another one has.
  ///
  /// Models of other strides have other numbers: those refute a layout only if no strides and no usual number of anchors give them.
  func check(_ layout: DetectorLayout) throws(ApusError) {
    guard let perCell = Self.perCell(layout) else { return }
    let sizes = prepared.outputs.map { $0.shape.dimensions.filter { $0 != 1 } }
    // Candidates lie along one of the two dimensions of each output that has them.
    let numbers = Set(sizes.filter { $0.count == 2 }.flatMap { $0 })
    let found = [1, 3].filter { factor in cellCounts.contains { numbers.contains(factor * $0) } }
    guard !found.isEmpty else {
      guard perCell > 0, !numbers.isEmpty, !isConfirmedByNames, isImpossible(numbers, perCell: perCell) else {
        return
      }
      throw refusal(layout, "as many candidates as no grids of cells have")
    }
    guard !found.contains(perCell) else { return }
    if perCell == 0 {
      // A row for each object or query; there may be as many rows as cells.
      let columns = sizes.first?.last ?? 0
      let isList =
        layout == .yoloEndToEnd
        ? columns == 6 : sizes.contains { BoxScoreRecognition.queryCounts.contains($0.first ?? 0) }
      guard !isList else { return }
    }
    throw refusal(layout, "as many candidates as \(found[0] == 3 ? "three for each cell" : "cells")")
  }

  /// Whether the exporter names classes: then their number says how columns are read.
  private var isConfirmedByNames: Bool { prepared.export?.names.isEmpty == false }

  /// Whether no dimension is the number of cells of grids with neighboring strides from 2 to 128, the finest at most 32, or a multiple of it
  /// where cells have several anchors.
  private func isImpossible(_ numbers: Set<Int>, perCell: Int) -> Bool {
    let strides = (1...7).map { 1 << $0 }
    let factors = perCell == 1 ? 1...1 : 1...Self.maximumAnchors
    for first in strides.indices where strides[first] <= Self.maximumFinestStride {
      for end in first..<strides.count {
        let cells = YOLOShape.cells(width: width, height: height, strides: Array(strides[first...end]))
        if factors.contains(where: { numbers.contains($0 * cells) }) { return false }
      }
    }
    return true
  }

  /// No known head has coarser grids alone.
  private static let maximumFinestStride = 32
  /// The most anchors that cells of known models have.
  private static let maximumAnchors = 9

  private func refusal(_ layout: DetectorLayout, _ what: String) -> ApusError {
    ApusError(
      .invalidArgument,
      """
      the model's outputs are not those of the layout \(layout.rawValue) (\(outputs(of: layout)) for \(width) × \(height) \
      pixels), but: \(prepared.outputDescription), with \(what)
      """)
  }
}
