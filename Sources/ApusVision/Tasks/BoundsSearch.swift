// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusSystem

/// Looks for the bounds of a tensor's values among the operators that compute it: interval arithmetic, from the end of the graph as
/// far back as it is needed.
struct BoundsSearch {
  private let model: Model
  private let input: ValueBounds
  private let subgraph: SubgraphEntry
  /// The operator that writes each tensor.
  private let producers: [Int: Int]
  private var steps = 0

  /// How many operators are looked at, and how far back.
  private static let maximumSteps = 256
  private static let maximumDepth = 64

  init(_ model: Model, input: ValueBounds) {
    self.model = model
    self.input = input
    subgraph = model.file.subgraphs[0]
    var producers: [Int: Int] = [:]
    for (index, node) in subgraph.operators.enumerated() {
      for tensor in node.outputs { producers[tensor] = index }
    }
    self.producers = producers
  }

  /// The bounds of a tensor's real values.
  mutating func bounds(of tensor: Int, depth: Int) throws(ApusError) -> ValueBounds {
    guard tensor >= 0 else { return .unknown }
    let described = model.tensor(tensor, subgraph: 0)
    var found = ValueBounds.unknown
    if subgraph.inputs.contains(tensor) {
      found = input
    } else if described.isConstant {
      if let values = try model.constantBounds(of: tensor) {
        found = ValueBounds(Double(values.lowerBound), Double(values.upperBound))
      }
    } else if let producer = producers[tensor], depth < Self.maximumDepth, steps < Self.maximumSteps {
      steps += 1
      found = try result(of: subgraph.operators[producer], depth: depth + 1)
    }
    return found.intersection(ValueBounds(ofQuantized: described.type, described.quantization))
  }

  /// The operator that writes a tensor; nil for inputs and constants.
  func producer(of tensor: Int) -> OperatorEntry? { producers[tensor].map { subgraph.operators[$0] } }

  /// The operator that computes a tensor's values, behind those that only move or resize them; nil for inputs and constants.
  func origin(of tensor: Int) -> OperatorCode? {
    var tensor = tensor
    for _ in 0..<Self.maximumDepth {
      guard let producer = producers[tensor] else { return nil }
      let node = subgraph.operators[producer]
      let code = model.file.operatorCodes[node.operatorCode].code
      guard let code, Self.movements.contains(code), let source = node.inputs.first, source >= 0 else {
        return code
      }
      tensor = source
    }
    return nil
  }

  /// The operators that compute a tensor's values, behind those that only move, join, resize or choose among them; nil where one of
  /// them is not known, as an input.
  func origins(of tensor: Int) -> [OperatorEntry?] {
    var origins: [OperatorEntry?] = []
    var waiting = [tensor]
    var seen = Set(waiting)
    while let tensor = waiting.popLast() {
      guard origins.count < Self.maximumSteps, let producer = producers[tensor] else {
        origins.append(nil)
        continue
      }
      let node = subgraph.operators[producer]
      let code = model.file.operatorCodes[node.operatorCode].code
      let sources: ArraySlice<Int>
      switch code {
      case .concatenation, .pack: sources = node.inputs[...]
      case .split: sources = node.inputs.dropFirst().prefix(1)
      case .splitV, .topKV2: sources = node.inputs.prefix(1)
      case let code? where Self.movements.contains(code): sources = node.inputs.prefix(1)
      default: sources = []
      }
      if sources.isEmpty { origins.append(node) }
      for source in sources where seen.insert(source).inserted { waiting.append(source) }
    }
    return origins
  }

  /// Whether an operator is a layer whose results have no bounds: a sum of products without an activation, or what adds a bias to one,
  /// scales one, or adds several.
  func isLinear(_ node: OperatorEntry) -> Bool {
    var waiting = [node]
    var seen: Set<Int> = []
    while let node = waiting.popLast() {
      let code = model.file.operatorCodes[node.operatorCode].code
      if code == .batchMatMul { continue }
      guard (try? model.fusedActivation(of: node)) == FusedActivation.none else { return false }
      switch code {
      case .conv2D, .transposeConv, .depthwiseConv2D, .fullyConnected: continue
      case .add, .sub, .mul:
        let sources = node.inputs.filter { $0 >= 0 && !model.tensor($0, subgraph: 0).isConstant }
        // A product of two layers is no layer.
        guard !sources.isEmpty, code != .mul || sources.count == 1 else { return false }
        for source in sources where seen.insert(source).inserted {
          guard seen.count <= Self.maximumSums else { return false }
          for origin in origins(of: source) {
            guard let origin else { return false }
            waiting.append(origin)
          }
        }
      default: return false
      }
    }
    return true
  }

  /// How many terms of sums are followed back to their layers.
  private static let maximumSums = 16

  /// Operators whose results are values of their first input, or lie between them.
  static let movements: Set<OperatorCode> = [
    .reshape, .transpose, .squeeze, .expandDims, .slice, .stridedSlice, .gather, .gatherND, .resizeBilinear,
    .resizeNearestNeighbor, .depthToSpace, .spaceToDepth, .batchToSpaceND, .cast, .dequantize, .quantize,
    .tile, .reverseV2, .unpack, .mirrorPad, .mean, .reduceMax, .reduceMin, .broadcastTo,
  ]

  private mutating func result(of node: OperatorEntry, depth: Int) throws(ApusError) -> ValueBounds {
    guard let code = model.file.operatorCodes[node.operatorCode].code else { return .unknown }
    func first() throws(ApusError) -> ValueBounds { try operand(0, of: node, depth) }
    if Self.movements.contains(code) { return try first() }
    switch code {
    case .logistic, .softmax: return ValueBounds(0, 1)
    case .tanh: return ValueBounds(-1, 1)
    case .argMax, .argMin: return Self.positions(of: node, model)
    case .greater, .greaterEqual, .less, .lessEqual, .equal, .notEqual, .logicalAnd, .logicalOr, .logicalNot:
      return ValueBounds(0, 1)
    case .relu: return try first().clamped(0, .infinity)
    case .relu6: return try first().clamped(0, 6)
    case .reluN1To1: return try first().clamped(-1, 1)
    case .relu0To1: return try first().clamped(0, 1)
    case .exp: return try first().mapped { exp($0) }
    case .neg: return ValueBounds(0, 0) - (try first())
    case .abs, .square:
      let bounds = try first()
      let (one, other) = (bounds.lower.magnitude, bounds.upper.magnitude)
      let low = bounds.lower <= 0 && bounds.upper >= 0 ? 0 : min(one, other)
      let high = max(one, other)
      return code == .abs ? ValueBounds(low, high) : ValueBounds(low * low, high * high)
    case .sqrt: return try first().clamped(0, .infinity).mapped { $0.squareRoot() }
    case .round, .floor, .ceil:
      return try first().mapped {
        $0.rounded(code == .floor ? .down : code == .ceil ? .up : .toNearestOrEven)
      }
    case .averagePool2D, .maxPool2D: return try activated(first(), node)
    case .minimum, .maximum:
      let (one, other) = (try first(), try operand(1, of: node, depth))
      return code == .minimum
        ? ValueBounds(min(one.lower, other.lower), min(one.upper, other.upper))
        : ValueBounds(max(one.lower, other.lower), max(one.upper, other.upper))
    case .add: return try activated(first() + operand(1, of: node, depth), node)
    case .sub: return try activated(first() - operand(1, of: node, depth), node)
    case .mul: return try activated(first() * operand(1, of: node, depth), node)
    case .div: return try activated(first() / operand(1, of: node, depth), node)
    case .pad: return try first().union(ValueBounds(0, 0))
    case .padV2: return try first().union(operand(2, of: node, depth))
    case .split: return try operand(1, of: node, depth)
    case .splitV: return try first()
    case .concatenation, .pack:
      var bounds = try first()
      for position in node.inputs.indices.dropFirst() where bounds != .unknown {
        bounds = bounds.union(try operand(position, of: node, depth))
      }
      return bounds
    case .select, .selectV2: return try operand(1, of: node, depth).union(operand(2, of: node, depth))
    case .conv2D, .transposeConv, .depthwiseConv2D, .fullyConnected:
      return try activated(.unknown, node)
    default: return .unknown
    }
  }

  /// The positions along the axis of an operator that looks for the largest or the smallest: it takes that axis away.
  static func positions(of node: OperatorEntry, _ model: Model) -> ValueBounds {
    guard let input = node.inputs.first, input >= 0, let output = node.outputs.first else { return .unknown }
    let (source, result) = (model.tensor(input, subgraph: 0), model.tensor(output, subgraph: 0))
    func count(_ tensor: Tensor) -> Double { tensor.shape.dimensions.reduce(1) { $0 * Double($1) } }
    let length = count(source) / count(result)
    // An axis of open length counts as one.
    let isOpen = source.shapeSignature.contains { $0 < 0 }
    guard length >= 1, length == length.rounded(), length > 1 || !isOpen else { return .unknown }
    return ValueBounds(0, length - 1)
  }

  private mutating func operand(_ position: Int, of node: OperatorEntry, _ depth: Int) throws(ApusError)
    -> ValueBounds
  {
    guard node.inputs.indices.contains(position) else { return .unknown }
    return try bounds(of: node.inputs[position], depth: depth)
  }

  /// The values after the activation in an operator's options.
  private func activated(_ bounds: ValueBounds, _ node: OperatorEntry) throws(ApusError) -> ValueBounds {
    switch try model.fusedActivation(of: node) {
    case .relu: bounds.clamped(0, .infinity)
    case .reluN1To1: bounds.clamped(-1, 1)
    case .relu6: bounds.clamped(0, 6)
    case .tanh: ValueBounds(-1, 1)
    case .some(.none), .signBit, nil: bounds
    }
  }
}
