// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `STABLEHLO_PAD`: puts a value between, before and after the elements of a tensor; negative counts at the ends
/// cut off.
enum StableHLOPad {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, ranks: 1...8)
    let value = try node.input(1, types: [input.type])
    guard value.shape.elementCount == 1 else {
      throw node.malformed("\(value.name) has \(value.shape.elementCount) values, not 1")
    }
    let rank = input.shape.rank
    let options = node.options.stablehloPad
    let (low, high, interior) = (try options.low, try options.high, try options.interior)
    guard low.count == rank, high.count == rank, interior.count == rank else {
      throw node.malformed(
        "options are of \(low.count), \(high.count) and \(interior.count) axes, not \(rank)")
    }
    var sizes: [Int] = []
    for axis in 0..<rank {
      let limit = 1 << 31
      guard (-limit..<limit).contains(low[axis]), (-limit..<limit).contains(high[axis]),
        (0..<limit).contains(interior[axis])
      else {
        throw node.malformed("\(low[axis]), \(interior[axis]) and \(high[axis]) cannot be counted by")
      }
      let (gaps, overflow) = max(input.shape[axis] - 1, 0).multipliedReportingOverflow(by: interior[axis])
      guard !overflow, gaps < 1 << 48, input.shape[axis] < 1 << 48 else {
        throw node.malformed("an axis of \(input.shape) is too large to spread")
      }
      sizes.append(input.shape[axis] + gaps + low[axis] + high[axis])
    }
    // If one size is zero, the reference reads all as zero.
    if sizes.contains(where: { $0 <= 0 }) {
      _ = try node.output(0, shape: TensorShape(Array(repeating: 0, count: rank)), like: input)
      return DataMovement([])
    }
    let output = try node.output(0, shape: TensorShape(sizes), like: input)
    try node.requireCountable(sizes)
    var (counts, firsts, places): ([Int], [Int], [Int]) = ([], [], [])
    for axis in 0..<rank {
      let step = interior[axis] + 1
      // The elements that stay: those from `first` on whose places are within the output.
      let first = low[axis] < 0 ? (step - 1 - low[axis]) / step : 0
      let place = low[axis] + first * step
      let room = place < sizes[axis] ? (sizes[axis] - 1 - place) / step + 1 : 0
      counts.append(max(0, min(input.shape[axis] - first, room)))
      firsts.append(first)
      places.append(place)
    }
    guard !counts.contains(0) else { return DataMovement(filling: (output, .element(value)), []) }
    let (from, to) = (input.shape.strides, output.shape.strides)
    // An axis of one element does not step.
    let steps = (0..<rank).map { counts[$0] > 1 ? (interior[$0] + 1) * to[$0] : 0 }
    let copy = try node.move(
      counts, from: input, strides: from, offset: (0..<rank).reduce(0) { $0 + firsts[$1] * from[$1] },
      to: output, strides: steps, at: (0..<rank).reduce(0) { $0 + places[$1] * to[$1] })
    return DataMovement(filling: (output, .element(value)), [copy])
  }
}
