// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

extension RowProof {
  /// Applies the rule of an operator: its outputs have rows of their own, or there is an objection.
  mutating func apply(_ rule: RowRule, to node: RowNode) throws(Objection) {
    switch rule {
    case .mixed:
      throw Objection(reason: "\(place(node.index)), may move values from one row of a batch to another")
    case .elements: try elements(node, node.entry.inputs[...])
    case .choice:
      // Other conditions are as large as what they choose from.
      if let condition = node.input(0), kind(condition) == .rows, rank(condition) == 1 {
        try elements(node, node.entry.inputs.dropFirst())
      } else {
        try elements(node, node.entry.inputs[...])
      }
    case .lastAxis:
      try requireRows(node, 0, rank: 2)
      try finish(node)
    case .images:
      try requireRows(node, 0, rank: 4)
      try finish(node)
    case .windows(let images): try windows(node, images)
    case .filteredRows: try filteredRows(node)
    case .matrices: try matrices(node)
    case .sameOrder:
      try requireRows(node, 0, rank: 1)
      try finish(node)
    case .transposition:
      try requireRows(node, 0, rank: 1)
      let last = rank(try input(node, 0))
      guard let first = try values(node, 1).first, first == 0 || first == -last else {
        throw moves(node, 0)
      }
      try finish(node)
    case .joining(let isNewAxis):
      for position in node.entry.inputs.indices { try requireRows(node, position, rank: 1) }
      try requireOther(
        isNewAxis ? try? node.options.pack.axis : try? node.options.concatenation.axis, node, 0,
        added: isNewAxis ? 1 : 0)
      try finish(node)
    case .parts(let position, let axis):
      try requireRows(node, position, rank: 1)
      try requireOther(self.axis(axis, node), node, position)
      try requireOthersFixed(node, but: position)
      try finish(node)
    case .slice:
      try requireRows(node, 0, rank: 1)
      // With as many rows as before: the sizes say no more than the shapes of rows, which are compared.
      guard try values(node, 1).first == 0 else { throw moves(node, 0) }
      try finish(node)
    case .stridedSlice: try stridedSlice(node)
    case .padding:
      try requireRows(node, 0, rank: 1)
      guard try values(node, 1).prefix(2) == [0, 0] else { throw moves(node, 0) }
      try requireOthersFixed(node, but: 0)
      try finish(node)
    case .folding: try folding(node)
    case .along:
      try requireRows(node, 0, rank: 1)
      for axis in try values(node, 1) { try requireOther(axis, node, 0) }
      try finish(node)
    case .largest:
      try requireRows(node, 0, rank: 2)
      try requireOthersFixed(node, but: 0)
      try finish(node)
    case .gathering: try gathering(node)
    case .lookup(let indices, let table):
      try requireRows(node, indices, rank: 1)
      try requireFixed(try input(node, table), at: node.index)
      try finish(node)
    case .gatheringVectors:
      try requireFixed(try input(node, 0), at: node.index)
      try requireRows(node, 1, rank: 2)
      try finish(node)
    case .oneHot:
      try requireRows(node, 0, rank: 1)
      guard let axis = try? node.options.oneHot.axis, axis != 0 else { throw moves(node, 0) }
      try requireOthersFixed(node, but: 0)
      try finish(node)
    case .tiling:
      try requireRows(node, 0, rank: 1)
      guard try values(node, 1).first == 1 else { throw moves(node, 0) }
      try finish(node)
    case .broadcast: try elements(node, node.entry.inputs.prefix(1))
    case .fill:
      try requireFixed(try input(node, 1), at: node.index)
      try finish(node)
    case .diagonal:
      try requireRows(node, 0, rank: 2)
      try finish(node)
    }
  }

  // MARK: Rules

  /// Operands meet element by element: rows where all axes do, others in each row alike.
  private mutating func elements(_ node: RowNode, _ operands: ArraySlice<Int>) throws(Objection) {
    guard let output = node.entry.outputs.first else { throw moves(node, 0) }
    let rank = rank(output)
    for operand in operands where operand >= 0 {
      if kind(operand) == .rows {
        guard self.rank(operand) == rank else {
          throw Objection(
            reason: "\(place(node.index)), repeats \(text(operand)), along the first axis")
        }
      } else {
        try requireAlike(operand, rank: rank, node)
      }
    }
    try finish(node)
  }

  private mutating func windows(_ node: RowNode, _ images: Int) throws(Objection) {
    try requireRows(node, images, rank: 4)
    for (position, tensor) in node.entry.inputs.enumerated() where tensor >= 0 && position != images {
      // The first input before images says how large results are.
      if position > 0 || images == 0 { try requireFixed(tensor, at: node.index) }
    }
    try requireOrder(of: wiring.types[try input(node, images)], at: node.index)
    try finish(node)
  }

  private mutating func filteredRows(_ node: RowNode) throws(Objection) {
    try requireRows(node, 0, rank: 1)
    try requireOthersFixed(node, but: 0)
    let (rows, filter) = (try input(node, 0), try input(node, 1))
    guard let format = try? node.options.fullyConnected.weightsFormat, format == 0, rank(filter) == 2,
      shape(filter)[1] > 0, shape(rows).dropFirst().reduce(1, &*).isMultiple(of: shape(filter)[1])
    else {
      throw Objection(
        reason:
          "\(place(node.index)), cuts \(text(rows)), into other rows than those of the batch"
      )
    }
    try requireOrder(of: wiring.types[rows], at: node.index)
    try finish(node)
  }

  private mutating func matrices(_ node: RowNode) throws(Objection) {
    let (lhs, rhs) = (try input(node, 0), try input(node, 1))
    guard let output = node.entry.outputs.first else { throw moves(node, 0) }
    let rank = rank(output)
    switch (kind(lhs), kind(rhs)) {
    case (.rows, .rows):
      guard rank > 2, self.rank(lhs) == rank, self.rank(rhs) == rank else { throw moves(node, 1) }
    case (.rows, _):
      let isTransposed = (try? node.options.batchMatMul.transposesLeft) ?? false
      guard self.rank(lhs) == rank, rank > 2 || !isTransposed else { throw moves(node, 0) }
      if rank == 2 { try requireFixed(rhs, at: node.index) } else { try requireAlike(rhs, rank: rank, node) }
    default:
      guard rank > 2, kind(rhs) == .rows, self.rank(rhs) == rank else { throw moves(node, 1) }
      try requireAlike(lhs, rank: rank, node)
    }
    try requireOrder(of: wiring.types[lhs], at: node.index)
    try finish(node)
  }

  private mutating func stridedSlice(_ node: RowNode) throws(Objection) {
    try requireRows(node, 0, rank: 1)
    let (begins, strides) = (try values(node, 1), try values(node, 3))
    // Where ends are says no more than the shapes of rows.
    let options = node.options.stridedSlice
    guard let beginMask = try? options.beginMask, (try? options.ellipsisMask) == 0,
      (try? options.newAxisMask) == 0, let shrinkMask = try? options.shrinkMask, shrinkMask & 1 == 0,
      let begin = begins.first, strides.first == 1, beginMask & 1 == 1 || begin == 0
    else { throw moves(node, 0) }
    try finish(node)
  }

  private mutating func folding(_ node: RowNode) throws(Objection) {
    try requireRows(node, 0, rank: 1)
    let input = try input(node, 0)
    let shape = shape(input)
    var isFolded = shape.map { _ in false }
    for axis in try values(node, 1) {
      try requireOther(axis, node, 0)
      isFolded[axis < 0 ? axis + shape.count : axis] = true
    }
    if wiring.types[input] == .float32 {
      // Where a batch of one has the columns of a matrix, some rows of it may be added apart.
      keep(
        order: "\(Reduction(dimensions: shape, isFolded: isFolded).rowParts) parts", at: node.index)
    }
    try finish(node)
  }

  private mutating func gathering(_ node: RowNode) throws(Objection) {
    let (values, indices) = (try input(node, 0), try input(node, 1))
    let options = node.options.gather
    guard let axis = try? options.axis, let batchRank = try? options.batchRank else { throw moves(node, 0) }
    switch (kind(values), kind(indices)) {
    case (.rows, .rows):
      guard batchRank > 0 || batchRank < 0 && batchRank + rank(indices) > 0 else { throw moves(node, 0) }
    case (.rows, _):
      try requireFixed(indices, at: node.index)
      guard batchRank == 0 else { throw moves(node, 0) }
      try requireOther(axis, node, 0)
    default:
      try requireFixed(values, at: node.index)
      guard batchRank == 0, axis == 0 || axis == -rank(values) else { throw moves(node, 1) }
      try requireRows(node, 1, rank: 1)
    }
    try finish(node)
  }

  // MARK: Conditions

  private mutating func finish(_ node: RowNode) throws(Objection) {
    for output in node.entry.outputs { try becomeRows(output, at: node.index) }
  }

  /// An input that the operator must have.
  private func input(_ node: RowNode, _ position: Int) throws(Objection) -> Int {
    guard let tensor = node.input(position) else {
      throw Objection(reason: "\(place(node.index)), lacks input \(position)")
    }
    return tensor
  }

  /// The integers of an input, which must be the same whatever the batch.
  private mutating func values(_ node: RowNode, _ position: Int) throws(Objection) -> [Int] {
    guard let tensor = node.input(position) else { throw moves(node, 0) }
    return try values(tensor, at: node.index)
  }

  private mutating func axis(_ axis: RowRule.RowAxis, _ node: RowNode) throws(Objection) -> Int? {
    switch axis {
    case .input(let position): try values(node, position).first
    case .unpackOption: try? node.options.unpack.axis
    }
  }

  /// Requires that an input has rows of the batch, and at least `least` axes.
  private func requireRows(_ node: RowNode, _ position: Int, rank least: Int) throws(Objection) {
    guard let tensor = node.input(position) else { throw moves(node, 0) }
    guard kind(tensor) == .rows else {
      throw Objection(reason: "\(place(node.index)), reads \(name(tensor)), which has no rows of the batch")
    }
    guard rank(tensor) >= least else { throw moves(node, position) }
  }

  /// Requires that an operand has the same values in each row of a result of some rank.
  private mutating func requireAlike(_ tensor: Int, rank: Int, _ node: RowNode) throws(Objection) {
    guard self.rank(tensor) < rank || shape(tensor).first == 1 else {
      throw Objection(
        reason: "\(place(node.index)), reads another part of \(text(tensor)), in each row")
    }
    try requireFixed(tensor, at: node.index)
  }

  /// Requires that an axis of an input is not the first.
  private func requireOther(
    _ axis: Int?, _ node: RowNode, _ position: Int, added: Int = 0
  ) throws(Objection) {
    let rank = rank(try input(node, position)) + added
    guard let axis, (-rank..<rank).contains(axis), axis != 0, axis != -rank else {
      throw moves(node, position)
    }
  }

  private mutating func requireOthersFixed(_ node: RowNode, but position: Int) throws(Objection) {
    for (other, tensor) in node.entry.inputs.enumerated() where other != position && tensor >= 0 {
      try requireFixed(tensor, at: node.index)
    }
  }

  /// The objection that an operator works along the first axis.
  private func moves(_ node: RowNode, _ position: Int) -> Objection {
    let what = node.input(position).map { " of \(text($0))" } ?? ""
    return Objection(reason: "\(place(node.index)), works along the first axis\(what)")
  }
}
