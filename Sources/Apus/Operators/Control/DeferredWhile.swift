// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A `WHILE` whose values change shape between iterations.
final class DeferredWhile: DeferredOperator {
  private struct Value {
    var shape: TensorShape
    var memory: TensorMemory
    var byteCount: Int

    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: memory.base, count: byteCount) }

    func copy(_ source: RawSpan) {
      unsafe source.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(start: memory.base, count: byteCount).copyMemory(from: $0)
      }
    }
  }

  private let condition: SubgraphCall
  private let body: SubgraphCall
  private let inputs: [TensorSlot]
  private let place: String
  private var values: [Value]
  /// The counter of their bytes.
  private let heldMemory: HeldMemory

  init(condition: SubgraphCall, body: SubgraphCall, inputs: [TensorSlot], place: String) throws(ApusError) {
    self.condition = condition
    self.body = body
    self.inputs = inputs
    self.place = place
    heldMemory = body.graph.context.heldMemory
    values = try inputs.map { _ throws(ApusError) in
      Value(shape: [0], memory: try TensorMemory(byteCount: 1), byteCount: 0)
    }
  }

  private func hold(_ shape: TensorShape, byteCount: Int, at position: Int) throws(ApusError) {
    values[position].shape = shape
    guard values[position].byteCount != byteCount else { return }
    try body.graph.context.checkMemory(
      byteCount, beside: 0, insteadOf: values[position].byteCount, "\(place): a value")
    values[position].memory = try TensorMemory(byteCount: byteCount)
    heldMemory.byteCount += byteCount - values[position].byteCount
    values[position].byteCount = byteCount
  }

  deinit {
    for value in values { heldMemory.byteCount -= value.byteCount }
  }

  private func pass(to call: SubgraphCall) throws(ApusError) {
    for (position, value) in values.enumerated() { call.setShape(value.shape, at: position) }
    try call.prepare()
    for (position, value) in values.enumerated() { try unsafe call.pass(value.bytes.bytes, to: position) }
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    for (position, input) in inputs.enumerated() {
      let source = tensors.readBytes(input)
      try hold(input.shape, byteCount: source.byteCount, at: position)
      values[position].copy(source)
    }
    while true {
      try pass(to: condition)
      guard try While.holds(condition, place) else { return }
      try pass(to: body)
      try body.countIteration()
      try body.run()
      for position in values.indices {
        let graph = body.graph
        try hold(
          graph.outputShape(position) ?? [0],
          byteCount: try graph.outputByteCount(position),
          at: position)
        let (value, memory) = (values[position], values[position].memory)
        try unsafe graph.copyOutput(
          position, to: UnsafeMutableRawBufferPointer(start: memory.base, count: value.byteCount))
      }
    }
  }

  func outputShape(_ position: Int) -> TensorShape { values[position].shape }

  func deliver(_ position: Int, into bytes: inout MutableRawSpan) {
    unsafe copyBytes(values[position].bytes.bytes, to: &bytes)
  }
}
