// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime

/// The products of a recurrent layer on floats, of all gates at once: inputs of many steps together, states step by step.
struct GateProducts {
  /// The tensors of one gate.
  struct Gate {
    let input: TensorSlot
    let state: TensorSlot
    let bias: TensorSlot
  }

  /// Sums in each row: those of all gates.
  let columnCount: Int
  /// How many steps' inputs are multiplied at once.
  let stepCount: Int
  /// How the kernels work, for reports.
  var implementation: Implementation {
    Implementation(
      text: "inputs of \(stepCount) steps: \(input.implementation); states: \(state.implementation)",
      choice: choice)
  }

  private let gates: [Gate]
  private let layout: SequenceLayout
  private let inputCount: Int
  private let input: any PreparedConvolution
  private let state: any PreparedConvolution
  private let choice: KernelChoice
  private var inputWeights: PackedWeights?
  private var stateWeights: PackedWeights?
  private let inputSums: TensorSlot
  private let stateSums: TensorSlot
  private let scratch: TensorSlot

  /// The sums of the inputs of some steps take no more memory than that, unless one step's do.
  private static let maximumSumBytes = 1 << 17

  /// Chooses kernels for constant floats, the weights of `gates` in this order; nil if there is nothing to multiply.
  ///
  /// - Parameter inputEpilogue: the bounds of the inputs' contributions.
  init?(
    _ gates: [Gate], _ layout: SequenceLayout, inputCount: Int, stateCount: Int, unitCount: Int,
    inputEpilogue: Epilogue, _ node: Node
  ) throws(ApusError) {
    guard layout.batch > 0, layout.time > 0, inputCount > 0, stateCount > 0, unitCount > 0,
      gates.allSatisfy({ gate in
        [gate.input, gate.state, gate.bias].allSatisfy { $0.isConstant && $0.type == .float32 }
          && gate.state.shape.rank == 2
      })
    else { return nil }
    let columnCount = gates.count * unitCount
    let (stepByteCount, overflow) = (4 * columnCount).multipliedReportingOverflow(by: layout.batch)
    guard !overflow else { return nil }
    let stepCount = max(1, min(layout.time, Self.maximumSumBytes / stepByteCount))
    try node.keepChannels(columnCount)
    // The weights of all gates, while they are packed.
    try node.need(arraysOf: columnCount, entryByteCount: 4 * (max(inputCount, stateCount) + 1))
    func kernel(rows: Int, depth: Int, _ epilogue: Epilogue) -> KernelSet.Chosen<any PreparedConvolution>? {
      node.kernels.choose(
        Convolution(rows: rows, depth: depth, columns: columnCount, operands: .float32, epilogue: epilogue),
        isForOneThread: node.isForOneThread)
    }
    guard
      let (input, choice) = kernel(
        rows: layout.isTimeMajor ? stepCount * layout.batch : stepCount, depth: inputCount, inputEpilogue),
      let (state, _) = kernel(rows: layout.batch, depth: stateCount, node.openEpilogue)
    else { return nil }
    self.gates = gates
    self.layout = layout
    self.inputCount = inputCount
    self.columnCount = columnCount
    self.stepCount = stepCount
    self.input = input
    self.state = state
    self.choice = choice
    inputSums = try node.scratch(stepCount * layout.batch * columnCount, of: .float32)
    stateSums = try node.scratch(layout.batch * columnCount, of: .float32)
    scratch = try node.scratch(
      byteCount: max(
        input.scratchByteCount(threads: node.threadCount), state.scratchByteCount(threads: node.threadCount)))
  }

  /// Packs the weights of all gates side by side.
  mutating func pack(by packer: WeightPacker) throws(ApusError) {
    packer.expectedByteCount =
      roundedUp(input.packedByteCount, to: TensorMemory.alignment)
      + roundedUp(state.packedByteCount, to: TensorMemory.alignment)
    let (filters, biases) = (gates.map(\.input), gates.map(\.bias))
    inputWeights = try packer.weights(
      of: filters + biases, layout: input.packing.of("gates"), most: input.packedByteCount,
      copiedByteCount: Self.joinedByteCount(filters + biases)
    ) { [input] lease, weights throws(ApusError) in
      let (filter, bias) = (try Self.joined(filters, lease), try Self.joined(biases, lease))
      input.pack(weights: filter.bytes, bias: bias.bytes, into: weights)
      withExtendedLifetime((filter, bias)) {}
    }.weights
    let states = gates.map(\.state)
    stateWeights = try packer.weights(
      of: states, layout: state.packing.of("gates"), most: state.packedByteCount,
      copiedByteCount: Self.joinedByteCount(states)
    ) { [state] lease, weights throws(ApusError) in
      let filter = try Self.joined(states, lease)
      state.pack(weights: filter.bytes, bias: nil, into: weights)
      withExtendedLifetime(filter) {}
    }.weights
  }

  private static func joinedByteCount(_ slots: [TensorSlot]) -> Int {
    slots.reduce(0) { $0 + 4 * $1.shape.elementCount }
  }

  private static func joined(_ slots: [TensorSlot], _ lease: ConstantLease) throws(ApusError) -> TensorMemory
  {
    let memory = try TensorMemory(byteCount: joinedByteCount(slots))
    var offset = 0
    for slot in slots {
      let source = try lease.bytes(of: slot)
      memory.withMutableBytes {
        ElementRuns.copy(
          from: source, at: 0, step: 0, to: &$0, at: offset, step: 0, byteCount: source.byteCount, count: 1)
      }
      offset += source.byteCount
    }
    return memory
  }

  // MARK: Runs

  /// The first of the steps that are multiplied together with one.
  func firstStep(of step: Int) -> Int { min(step / stepCount * stepCount, layout.time - stepCount) }

  /// Multiplies the inputs of ``stepCount`` steps from `first` on, and adds the biases.
  func multiplyInputs(_ slot: TensorSlot, from first: Int, _ tensors: borrowing TensorTable) {
    guard let inputWeights else { return }
    let calls = layout.isTimeMajor ? 1 : layout.batch
    let rows = layout.isTimeMajor ? stepCount * layout.batch : stepCount
    let values = tensors.readBytes(slot)
    var scratch = tensors.writeBytes(scratch)
    for call in 0..<calls {
      let row = layout.row(batch: call, time: first)
      let sumBytes = 4 * columnCount * rows
      var sums = tensors.writeBytes(inputSums, in: call * sumBytes..<(call + 1) * sumBytes)
      input.run(
        inputWeights,
        input: values.extracting(4 * inputCount * row..<4 * inputCount * (row + rows)), output: &sums,
        scratch: &scratch, threads: tensors.threads)
    }
  }

  /// Multiplies the states of all sequences.
  func multiplyStates(_ slot: TensorSlot, _ tensors: borrowing TensorTable) {
    guard let stateWeights else { return }
    var scratch = tensors.writeBytes(scratch)
    var sums = tensors.writeBytes(stateSums)
    state.run(
      stateWeights, input: tensors.readBytes(slot), output: &sums, scratch: &scratch,
      threads: tensors.threads)
  }

  /// The contributions of a sequence's state to a step; they are overwritten.
  @_lifetime(borrow tensors)
  func stateSums(batch: Int, _ tensors: borrowing TensorTable) -> MutableSpan<Float> {
    tensors.write(stateSums, batch * columnCount..<(batch + 1) * columnCount)
  }

  /// The contributions of a sequence's input to a step; its inputs were multiplied from step `first` on.
  @_lifetime(borrow tensors)
  func inputSums(batch: Int, step: Int, from first: Int, _ tensors: borrowing TensorTable) -> Span<Float> {
    let row =
      layout.isTimeMajor ? (step - first) * layout.batch + batch : batch * stepCount + (step - first)
    return tensors.read(inputSums, as: Float.self).extracting(row * columnCount..<(row + 1) * columnCount)
  }
}
