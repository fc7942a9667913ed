// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Whether the candidates of a square output are its rows or its columns, and what says so.
struct CandidateOrientation: Sendable {
  let axis: CandidateAxis
  let source: AssumptionSource
  let reason: String

  var assumption: Assumption {
    Assumption("candidates", axis.rawValue, source, reason: reason, option: "--candidates")
  }

  /// Whether all rows of a column follow each other.
  var isTransposed: Bool { axis == .columns }

  /// How many operators are followed back.
  private static let maximumSteps = 64

  /// Decides by the caller's option, else by what the graph joins, else by the values for a gray picture.
  ///
  /// - Parameter side: How many candidates there are, and how many numbers each of them has.
  /// - Throws: `invalidArgument` if nothing decides.
  init(ofSquare output: Int, side: Int, _ prepared: PreparedModel) throws(ApusError) {
    if let given = prepared.options.candidates {
      (axis, source, reason) = (given, .given, "the options")
    } else if let (axis, reason) = Self.joined(output, side, prepared) {
      (self.axis, source, self.reason) = (axis, .model, reason)
    } else if let axis = Self.shown(output, side, prepared) {
      (self.axis, source, reason) = (
        axis, .model, "for a gray picture, only \(axis.rawValue) have boxes before scores"
      )
    } else {
      throw ApusError(
        .invalidArgument,
        """
        the output \(prepared.outputs[output].shape) has as many candidates as numbers of each: nothing in the model says whether each row \
        or each column is a candidate, so that must be chosen (--candidates rows or --candidates columns)
        """)
    }
  }

  /// Along which axis the graph joins a box with scores, or the candidates of several grids.
  private static func joined(_ output: Int, _ side: Int, _ prepared: PreparedModel) -> (
    CandidateAxis, String
  )? {
    let model = prepared.model
    let subgraph = model.file.subgraphs[0]
    guard subgraph.outputs.indices.contains(output) else { return nil }
    let search = BoundsSearch(model, input: .unknown)
    func sides(_ tensor: Int) -> (first: Int, second: Int)? {
      guard tensor >= 0 else { return nil }
      let shape = model.tensor(tensor, subgraph: 0).shape.dimensions
      let places = shape.indices.filter { shape[$0] == side }
      return places.count == 2 && shape.reduce(1, *) == side * side ? (places[0], places[1]) : nil
    }
    var tensor = subgraph.outputs[output]
    guard var axes = sides(tensor) else { return nil }
    for _ in 0..<maximumSteps {
      guard let node = search.producer(of: tensor),
        let code = model.file.operatorCodes[node.operatorCode].code
      else { return nil }
      if code == .concatenation { return meaning(of: node, axes, side, prepared) }
      guard let source = node.inputs.first(where: { $0 >= 0 && !model.tensor($0, subgraph: 0).isConstant }),
        let places = sides(source)
      else { return nil }
      switch code {
      case .transpose:
        guard node.inputs.count > 1, let order = model.constantIntegers(of: node.inputs[1]),
          order.indices.contains(axes.first), order.indices.contains(axes.second)
        else { return nil }
        axes = (order[axes.first], order[axes.second])
      case .reshape, .squeeze, .expandDims:
        axes = axes.first < axes.second ? places : (places.second, places.first)
      case .dequantize, .quantize, .cast, .logistic, .mul, .add, .sub, .div, .relu: break
      default: return nil
      }
      tensor = source
    }
    return nil
  }

  /// The axis that the parts of a concatenation imply, and the reason; nil if they imply none.
  private static func meaning(
    of node: OperatorEntry, _ axes: (first: Int, second: Int), _ side: Int, _ prepared: PreparedModel
  ) -> (CandidateAxis, String)? {
    let shapes = node.inputs.map { $0 >= 0 ? prepared.model.tensor($0, subgraph: 0).shape.dimensions : [] }
    func parts(_ axis: Int) -> [Int]? {
      let widths = shapes.compactMap { $0.indices.contains(axis) ? $0[axis] : nil }
      return widths.count == shapes.count && widths.count > 1 && widths.allSatisfy { $0 < side }
        ? widths : nil
    }
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    for (axis, isFirst) in [(axes.first, true), (axes.second, false)] {
      guard let widths = parts(axis) else { continue }
      let areGrids = YOLOShape.strides.contains { strides in
        widths.sorted()
          == strides.map { YOLOShape.cells(width: width, height: height, strides: [$0]) }.sorted()
      }
      // Box and scores, or center, size and scores; of several classes or of objectness and classes.
      let areColumns = widths[0] == 4 || widths.count > 2 && widths[0] == 2 && widths[1] == 2
      guard areGrids != areColumns else { return nil }
      let list = widths.map(String.init).joined(separator: " + ")
      return (
        isFirst == areColumns ? .columns : .rows,
        areColumns ? "the graph joins \(list) numbers of each" : "the graph joins \(list) candidates"
      )
    }
    return nil
  }

  /// The only axis whose candidates can have a box and scores for a gray picture: scores of 0 to 1, or scores near 0 behind places
  /// that are not; nil if both or none can have that.
  private static func shown(_ output: Int, _ side: Int, _ prepared: PreparedModel) -> CandidateAxis? {
    var possible: [CandidateAxis] = []
    var quiet: [CandidateAxis] = []
    for axis in CandidateAxis.allCases {
      let columns = CandidateColumns(
        prepared, output, rows: side, columns: side, isTransposed: axis == .columns)
      guard let columns, (4..<side).allSatisfy(columns.isScore) else { continue }
      possible.append(axis)
      if columns.isLoud(0), columns.isLoud(1), !(4..<side).contains(where: columns.isLoud) {
        quiet.append(axis)
      }
    }
    return possible.count == 1 ? possible[0] : quiet.count == 1 ? quiet[0] : nil
  }
}
