// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The source of an operator's result type, whatever type the file declares.
///
/// The reference sets the types of these operators during preparation, and there are files that rely on it.
/// All other operators reject a file that declares another type.
enum ResultType {
  /// The type of an input.
  case input(Int)
  /// A fixed type.
  case fixed(ElementType)

  /// The rule for the first result of an operator; nil if the file decides.
  init?(of code: OperatorCode) {
    switch code {
    case .addN, .bitwiseXor, .ceil, .densify, .dynamicUpdateSlice, .exp, .expandDims, .fakeQuant, .floor,
      .floorDiv, .floorMod, .gather, .gatherND, .logicalAnd, .logicalOr, .matrixDiag, .matrixSetDiag,
      .maximum, .minimum, .neg, .pow, .prelu, .range, .resizeBilinear, .resizeNearestNeighbor, .rightShift,
      .round, .splitV, .stablehloShiftLeft, .zerosLike:
      self = .input(0)
    case .add, .div, .fill, .scatterND, .select, .selectV2, .split, .squaredDifference, .sub:
      self = .input(1)
    case .oneHot, .sparseToDense:
      self = .input(2)
    case .equal, .greater, .greaterEqual, .less, .lessEqual, .notEqual:
      self = .fixed(.bool)
    case .dequantize:
      self = .fixed(.float32)
    case .bucketize, .rank:
      self = .fixed(.int32)
    case .where:
      self = .fixed(.int64)
    case .rfft2D:
      self = .fixed(.complex64)
    default:
      return nil
    }
  }

  /// The types of a subgraph's tensors: the file's, except for results with a rule.
  static func types(of subgraph: SubgraphEntry, in file: ModelFile) -> [ElementType] {
    var types = subgraph.tensors.map { ElementType($0.type) }
    for node in subgraph.operators {
      let code = file.operatorCodes[node.operatorCode].code
      guard let rule = ResultType(of: code) else { continue }
      let type: ElementType
      switch rule {
      case .input(let position):
        guard node.inputs.indices.contains(position), node.inputs[position] >= 0 else { continue }
        type = types[node.inputs[position]]
      case .fixed(let only):
        type = only
      }
      // All outputs of a split have one type. Second results of other operators have their own types.
      let results = code == .split || code == .splitV ? node.outputs[...] : node.outputs.prefix(1)
      for result in results where !subgraph.tensors[result].isVariable { types[result] = type }
    }
    return types
  }
}
