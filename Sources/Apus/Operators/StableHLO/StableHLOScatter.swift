// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `STABLEHLO_SCATTER`: a copy of a tensor with updates folded into it, at positions that vectors of coordinates name.
///
/// Updates outside the tensor have no effect. The function is the only operator of a subgraph, or, without one, the
/// update itself.
struct StableHLOScatter: Operator {
  private let input: TensorSlot
  private let places: TensorSlot
  private let updates: TensorSlot
  private let output: TensorSlot
  private let kernel: WindowScatter

  /// The types that can be folded.
  static let types = ElementType.allCases.filter { $0.scalarType(in: .scatterable) != nil }

  /// The subgraph that names the function.
  static func body(_ options: OperatorOptions) throws(ApusError) -> Int {
    try options.stablehloScatter.bodySubgraph
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 3...3)
    let input = try node.input(0, ranks: 0...8)
    let places = try node.input(1, types: [.int32, .int64])
    let updates = try node.input(2, types: [input.type], ranks: 0...8)
    guard let elements = input.type.scalarType(in: .scatterable) else {
      throw node.unsupported("\(input.name) is \(input.type), which is not supported")
    }
    let rank = input.shape.rank
    let options = node.options.stablehloScatter
    let vectors = try IndexVectors(
      places, dimension: options.vectorAxis,
      axes: options.indexedAxes, rank: rank, node)
    let windowAxes = try options.updateWindowAxes
    let windowSet = try node.axisSet(windowAxes, rank: updates.shape.rank)
    let inserted = try node.axisSet(options.insertedAxes, rank: rank)
    let kept = (0..<rank).filter { !inserted.contains($0) }
    let batchAxes = updates.shape.dimensions.indices.filter { !windowSet.contains($0) }
    guard windowAxes.count == kept.count,
      batchAxes.map({ updates.shape[$0] }) == vectors.sizes
    else {
      throw node.malformed(
        "updates of \(updates.shape) with blocks along \(windowAxes.brief) do not fit \(input.shape) and \(places.shape)"
      )
    }
    var roles: [WindowScatter.Role] = []
    for axis in updates.shape.dimensions.indices {
      if let place = windowAxes.firstIndex(of: axis) {
        roles.append(.window(axis: kept[place]))
      } else {
        roles.append(
          .batch(stride: vectors.strides[roles.count { if case .batch = $0 { true } else { false } }]))
      }
    }
    let body = try options.bodySubgraph
    guard let fold = try node.fold(ofSubgraph: body), fold != .all, fold != .any else {
      throw node.unsupported("subgraph \(body) is not a single function that can fold updates")
    }
    return StableHLOScatter(
      input: input, places: places, updates: updates,
      output: try node.output(0, shape: input.shape, like: input),
      kernel: WindowScatter(
        sizes: input.shape.dimensions, updates: updates.shape.dimensions, roles: roles,
        coordinates: vectors.axes, coordinateStride: vectors.coordinateStride,
        coordinateCount: places.shape.elementCount, isWide: places.type == .int64, fold, elements))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    copyBytes(tensors.readBytes(input), to: &result, threads: tensors.threads)
    kernel.run(
      tensors.readBytes(updates), at: tensors.readBytes(places), into: &result, threads: tensors.threads)
  }
}
