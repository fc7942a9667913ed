// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The graph's evidence that an output has numbers of classes, even as floats: positions that `ARG_MAX` or
/// the like finds.
struct ClassNumbers {
  /// The operator that finds them.
  let origin: String
  /// How many positions there are; nil where the file leaves that open.
  let count: Int?
  /// The factor by which each position is multiplied; `offset` is added to the product.
  let factor: Double
  let offset: Double
  /// An operator behind it that computes other numbers from several of them; nil if there is none.
  let blending: String?

  /// How many operators are followed back.
  private static let maximumSteps = 64

  /// Operators that compute numbers between those of several cells.
  private static let blends: Set<OperatorCode> = [.resizeBilinear, .mean, .averagePool2D]
  /// Operators besides movements whose results are some of their first input's numbers, or 0.
  private static let selections: Set<OperatorCode> = [
    .maxPool2D, .pad, .relu, .round, .floor, .ceil, .split, .splitV,
  ]

  /// Follows an output back to the operator that finds positions; nil if there is none.
  init?(ofOutput position: Int, of model: Model) {
    let subgraph = model.file.subgraphs[0]
    guard subgraph.outputs.indices.contains(position) else { return nil }
    let search = BoundsSearch(model, input: .unknown)
    var tensor = subgraph.outputs[position]
    var (factor, offset) = (1.0, 0.0)
    var blending: String?
    for _ in 0..<Self.maximumSteps {
      guard let node = search.producer(of: tensor),
        let code = model.file.operatorCodes[node.operatorCode].code
      else { return nil }
      if code == .argMax || code == .argMin || code == .topKV2 && node.outputs.last == tensor {
        origin = code.schemaName
        count = Self.count(node, code, model)
        (self.factor, self.offset, self.blending) = (factor, offset, blending)
        return
      }
      guard let step = Self.step(node, code, model) else { return nil }
      if Self.blends.contains(code), model.shape(of: tensor) != model.shape(of: step.source) {
        blending = blending ?? code.schemaName
      }
      if step.isUneven { blending = blending ?? code.schemaName }
      offset += factor * step.offset
      factor *= step.factor
      tensor = step.source
    }
    return nil
  }

  /// Whether an output has the largest numbers in their order, as `TOPK_V2` finds them: a place in it is a rank, not a class.
  static func hasRanks(inOutput position: Int, of model: Model) -> Bool {
    let subgraph = model.file.subgraphs[0]
    guard subgraph.outputs.indices.contains(position) else { return false }
    let search = BoundsSearch(model, input: .unknown)
    var tensor = subgraph.outputs[position]
    for _ in 0..<maximumSteps {
      guard let node = search.producer(of: tensor),
        let code = model.file.operatorCodes[node.operatorCode].code
      else { return false }
      if code == .topKV2 { return node.outputs.first == tensor }
      guard let step = step(node, code, model) else { return false }
      tensor = step.source
    }
    return false
  }

  /// An operator's effect on the numbers of one tensor.
  private struct Step {
    let source: Int
    var factor = 1.0
    var offset = 0.0
    /// Whether the effect differs between cells.
    var isUneven = false
  }

  /// The tensor that an operator takes its numbers from, and what it makes of them; nil for operators that compute new ones.
  private static func step(_ node: OperatorEntry, _ code: OperatorCode, _ model: Model) -> Step? {
    guard let first = node.inputs.first, first >= 0 else { return nil }
    if code == .split { return node.inputs.count > 1 ? Step(source: node.inputs[1]) : nil }
    // A table of whole numbers gives each position another number.
    if code == .gather, node.inputs.count > 1, model.tensor(first, subgraph: 0).isConstant {
      let isWhole = [ElementType.int32, .int64].contains(model.tensor(first, subgraph: 0).type)
      return isWhole ? Step(source: node.inputs[1]) : Step(source: node.inputs[1], isUneven: true)
    }
    if BoundsSearch.movements.contains(code) || selections.contains(code) || blends.contains(code) {
      return Step(source: first)
    }
    if code == .neg { return Step(source: first, factor: -1) }
    guard [.add, .sub, .mul, .div].contains(code), node.inputs.count == 2,
      [FusedActivation.none, .relu].contains(try? model.fusedActivation(of: node)),
      let place = node.inputs.firstIndex(where: { $0 >= 0 && !model.tensor($0, subgraph: 0).isConstant }),
      let values = try? model.constantBounds(of: node.inputs[1 - place])
    else { return nil }
    let (source, number) = (node.inputs[place], Double(values.lowerBound))
    let isUneven = values.lowerBound != values.upperBound
    switch code {
    case .add: return Step(source: source, offset: number, isUneven: isUneven)
    case .sub where place == 0: return Step(source: source, offset: -number, isUneven: isUneven)
    case .sub: return Step(source: source, factor: -1, offset: number, isUneven: isUneven)
    case .mul: return Step(source: source, factor: number, isUneven: isUneven)
    case .div where place == 0: return Step(source: source, factor: 1 / number, isUneven: isUneven)
    default: return nil
    }
  }

  /// How many positions there are.
  private static func count(_ node: OperatorEntry, _ code: OperatorCode, _ model: Model) -> Int? {
    guard let input = node.inputs.first, input >= 0 else { return nil }
    let source = model.tensor(input, subgraph: 0)
    if code == .topKV2 { return source.shape.dimensions.last.flatMap { $0 > 1 ? $0 : nil } }
    let greatest = BoundsSearch.positions(of: node, model).upper
    return greatest.isFinite ? Int(greatest) + 1 : nil
  }

  /// Refuses numbers that are no classes as they are.
  func check(_ prepared: PreparedModel, _ output: Int) throws(ApusError) {
    let tensor = prepared.outputs[output]
    func refusal(_ what: String) -> ApusError {
      ApusError(
        .invalidArgument,
        """
        the output \(tensor) has the numbers of classes that \(origin) finds, \(what): these are no classes any more; \
        'apus transform' gives them as a picture, and a model whose output is that of \(origin) gives classes
        """)
    }
    if let blending { throw refusal("changed from cell to cell by \(blending)") }
    if factor != 1 {
      let isMask = count == 2 && offset == 0 && factor > 0
      throw refusal(
        "times \(Float(factor))"
          + (isMask && factor == 255
            ? ", which --scores byte reads as a mask of 0 to 255"
            : isMask && factor < 1 ? ", which --scores probability reads as a mask" : ""))
    }
    if offset != offset.rounded() || offset < 0 {
      throw refusal("\(offset < 0 ? "less" : "plus") \(Float(abs(offset)))")
    }
    if let scale = tensor.quantization?.scale, scale > Self.coarsest, scale != 1 {
      throw refusal("rounded to multiples of \(scale)")
    }
  }

  /// The largest step of a quantized output from which each class can be told.
  private static let coarsest: Float = 0.5
}

extension Model {
  fileprivate func shape(of tensor: Int) -> [Int] {
    tensor >= 0 ? self.tensor(tensor, subgraph: 0).shape.dimensions : []
  }
}
