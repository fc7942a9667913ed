// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `NON_MAX_SUPPRESSION_V4`: the indices of boxes by falling score, without those that overlap an earlier one.
/// `NON_MAX_SUPPRESSION_V5`: also lowers scores of overlapping boxes, and returns the scores.
///
/// Boxes are two opposite corners. Slots beyond the count (the last output) are zero.
struct NonMaxSuppression: Operator {
  private let boxes: TensorSlot
  private let scores: TensorSlot
  private let limits: [TensorSlot]
  private let indices: TensorSlot
  private let selectedScores: TensorSlot?
  private let count: TensorSlot
  private let scratch: TensorSlot
  private let kernel: BoxSuppression
  private let place: String

  static func prepareHard(_ node: Node) throws(ApusError) -> any Operator {
    try NonMaxSuppression(node, isSoft: false)
  }

  static func prepareSoft(_ node: Node) throws(ApusError) -> any Operator {
    try NonMaxSuppression(node, isSoft: true)
  }

  private init(_ node: Node, isSoft: Bool) throws(ApusError) {
    try node.expect(inputs: isSoft ? 6...6 : 5...5, outputs: isSoft ? 3...3 : 2...2)
    boxes = try node.input(0, types: [.float32], rank: 2)
    scores = try node.input(1, types: [.float32], rank: 1)
    guard boxes.shape[1] == 4, boxes.shape[0] == scores.shape[0], boxes.shape[0] <= Int32.max else {
      throw node.malformed("boxes of \(boxes.shape) and scores of \(scores.shape), not N×4 and N")
    }
    var limits: [TensorSlot] = []
    for position in 3..<(isSoft ? 6 : 5) {
      limits.append(try node.input(position, types: [.float32], rank: 0))
    }
    self.limits = limits
    let most = try node.integer(of: node.input(2, types: [.int32], rank: 0))
    guard most >= 0 else { throw node.malformed("the maximum number of boxes is \(most), not 0 or more") }
    try node.check(plainWork: Double(boxes.shape[0]) * Double(min(most, boxes.shape[0])) * 4)
    indices = try node.output(0, shape: [most], types: [.int32])
    selectedScores = isSoft ? try node.output(1, shape: [most], types: [.float32]) : nil
    count = try node.output(isSoft ? 2 : 1, shape: [], types: [.int32])
    kernel = BoxSuppression(boxCount: boxes.shape[0])
    scratch = try node.scratch(byteCount: kernel.scratchByteCount)
    place = node.place
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    func limit(_ position: Int) -> Float { tensors.read(limits[position], as: Float.self)[0] }
    let sigma = limits.count > 2 ? limit(2) : 0
    if sigma < 0 {
      throw ApusError(.invalidData, "\(place): sigma is \(sigma), which must not be negative")
    }
    var indices = tensors.write(indices, as: Int32.self)
    var selected = MutableSpan<Float>()
    if let selectedScores { selected = tensors.write(selectedScores, as: Float.self) }
    var scratch = tensors.writeBytes(scratch)
    let found = kernel.run(
      boxes: tensors.read(boxes), scores: tensors.read(scores),
      limits: .init(overlap: limit(0), score: limit(1), sigma: sigma), indices: &indices,
      selectedScores: &selected, scratch: &scratch, threads: tensors.threads)
    var count = tensors.write(count, as: Int32.self)
    count[0] = Int32(found)
  }
}
