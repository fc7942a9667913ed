// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// An LSTM layer on bytes with 16-bit cells, in integer arithmetic only.
struct IntegerLSTMLayer: SequenceLayer {
  private struct Gate {
    let input: TensorSlot
    let inputMultiplier: FixedPointMultiplier
    let inputBias: TensorValues
    let recurrent: TensorSlot
    let recurrentMultiplier: FixedPointMultiplier
    let recurrentBias: TensorValues
    let peephole: TensorSlot?
    let peepholeMultiplier: FixedPointMultiplier
    let normalization: TensorSlot?
    let normalizationMultiplier: FixedPointMultiplier
    let varianceGuard: Int32
    let bias: TensorSlot
  }

  /// Values that preparation computed.
  private struct TensorValues {
    let values: [Int32]
  }

  /// Values in each row of the output.
  let outputCount: Int

  /// How many rows share the indexing of peephole weights: the reference indexes through a whole batch at once.
  private let peepholeRows: Int
  private let inputCount: Int
  private let cellCount: Int
  private let inputGate: Gate?
  private let forgetGate: Gate
  private let cellGate: Gate
  private let outputGate: Gate
  private let projection: TensorSlot?
  private let projectionMultiplier: FixedPointMultiplier
  private let projectionBias: TensorValues
  private let hiddenMultiplier: FixedPointMultiplier
  private let hiddenZeroPoint: Int32
  private let outputZeroPoint: Int32
  private let cellExponent: Int
  private let cellClip: Int16
  private let projectionClip: Int8
  private let outputState: TensorSlot
  private let cellState: TensorSlot
  private let scratch: [TensorSlot]
  private let hidden: TensorSlot
  /// Generated code for most of the layer; nil for plain Swift.
  private let code: RecurrentCode?
  private let choice: KernelChoice

  /// Reads and checks the tensors; `intermediates` are the scales inside the gates, then that of the hidden values.
  init(
    _ node: Node, batch: Int, isTimeMajor: Bool, input: TensorSlot, output: TensorSlot, outputCount: Int,
    isNormalized: Bool, cellClip: Float, projectionClip: Float
  ) throws(ApusError) {
    let inputCount = input.shape.dimensions.last ?? 0
    let cellCount = try node.input(4, types: [.int8], rank: 2).shape[0]
    peepholeRows = isTimeMajor ? batch : 1
    self.inputCount = inputCount
    self.cellCount = cellCount
    self.outputCount = outputCount
    guard cellCount > 0, outputCount > 0 else { throw node.malformed("has no cells") }
    // Biases of inputs and states of four gates, and of the projection.
    try node.keep(tablesOf: cellCount, entryByteCount: 8 * MemoryLayout<Int32>.stride)
    try node.keep(tablesOf: outputCount, entryByteCount: MemoryLayout<Int32>.stride)
    outputState = try node.state(18, rows: batch, count: outputCount, type: .int8)
    cellState = try node.state(19, rows: batch, count: cellCount, type: .int16)
    let intermediates = node.entry.intermediates
    guard intermediates.count == 5 else {
      throw node.unsupported(
        "has \(intermediates.count) intermediate tensors; 5 are supported, for 16-bit cells")
    }
    func intermediate(_ position: Int) throws(ApusError) -> (scale: Float, zeroPoint: Int32) {
      let entry = node.subgraph.tensors[intermediates[position]]
      guard let parameters = entry.parameters, let scale = parameters.scales.first, scale.isFinite,
        scale > 0
      else { throw node.malformed("intermediate tensor \(entry.name) has no scale above zero") }
      return (scale, Int32(clamping: parameters.zeroPoints.first ?? 0))
    }
    let cellScale = try node.quantization(of: cellState).scale
    guard let exponent = cellScale.roundedBinaryExponent, (-15 ... -9).contains(exponent) else {
      throw node.malformed(
        "\(cellState.name) has the scale \(cellScale), not a power of two from 2^-15 to 2^-9")
    }
    cellExponent = exponent
    let (inputScale, inputZeroPoint) = try node.quantization(of: input)
    let (stateScale, stateZeroPoint) = try node.quantization(of: outputState)
    let outputScale = try node.quantization(of: output).scale
    outputZeroPoint = stateZeroPoint

    func scale(_ slot: TensorSlot?) throws(ApusError) -> Float {
      guard let slot else { return 1 }
      return try node.quantization(of: slot).scale
    }
    func weights(_ position: Int, depth: Int) throws(ApusError) -> TensorSlot {
      let slot = try node.input(position, types: [.int8], rank: 2)
      guard slot.shape == [cellCount, depth] else {
        throw node.malformed("\(slot.name) is \(slot.shape), not \(cellCount)×\(depth)")
      }
      return slot
    }
    func bias(
      _ slot: TensorSlot, zeroPoint: Int32, bias: TensorSlot?, rows: Int
    ) throws(ApusError) -> TensorValues {
      let values = try node.values(of: slot, as: Int8.self)
      var sums = RecurrentProducts.rowSums(values, rows: rows, times: zeroPoint)
      if let bias {
        for (row, value) in try node.values(of: bias, as: Int32.self).enumerated() { sums[row] &+= value }
      }
      return TensorValues(values: sums)
    }
    func gate(_ position: Int) throws(ApusError) -> Gate {
      var gateScale: Float = 0x1p-12
      if isNormalized { gateScale = try intermediate(position).scale }
      let input = try weights(1 + position, depth: inputCount)
      let recurrent = try weights(5 + position, depth: outputCount)
      let gateBias = try node.vector(12 + position, count: cellCount, types: [.int32])
      let peephole =
        position == 2 ? nil : try node.optionalVector(9 + min(position, 2), count: cellCount, types: [.int16])
      let normalization =
        isNormalized ? try node.vector(20 + position, count: cellCount, types: [.int16]) : nil
      let normalizationScale = try scale(normalization)
      return Gate(
        input: input,
        inputMultiplier: FixedPointMultiplier(
          ScaleFactor.narrow(try scale(input), inputScale, over: gateScale)),
        inputBias: try bias(
          input, zeroPoint: 0 &- inputZeroPoint, bias: isNormalized ? nil : gateBias, rows: cellCount),
        recurrent: recurrent,
        recurrentMultiplier: FixedPointMultiplier(
          ScaleFactor.narrow(try scale(recurrent), stateScale, over: gateScale)),
        recurrentBias: try bias(recurrent, zeroPoint: 0 &- stateZeroPoint, bias: nil, rows: cellCount),
        peephole: peephole,
        peepholeMultiplier: FixedPointMultiplier(
          ScaleFactor.peephole(exponent: exponent, try scale(peephole), over: gateScale)),
        normalization: normalization,
        normalizationMultiplier: FixedPointMultiplier(Double(normalizationScale)),
        varianceGuard: Int32(max(1, min(10000 * normalizationScale, 0x1p30))), bias: gateBias)
    }
    let hasInputGate = try node.optionalInput(1) != nil
    guard try node.optionalInput(5) != nil || !hasInputGate else {
      throw node.malformed("has weights of the input for an input gate, but no recurrent ones")
    }
    inputGate = hasInputGate ? try gate(0) : nil
    forgetGate = try gate(1)
    cellGate = try gate(2)
    outputGate = try gate(3)
    let peepholes = [forgetGate.peephole != nil, outputGate.peephole != nil]
    guard peepholes[0] == peepholes[1], inputGate.map({ ($0.peephole != nil) == peepholes[0] }) ?? true,
      !peepholes[0] || outputCount <= cellCount
    else { throw node.malformed("has peephole weights for some gates or cells only") }

    let hiddenValues = try intermediate(4)
    hiddenMultiplier = FixedPointMultiplier(ScaleFactor.hidden(hiddenValues.scale))
    if let slot = try node.optionalInput(16, types: [.int8], ranks: 2...2) {
      guard slot.shape == [outputCount, cellCount] else {
        throw node.malformed("\(slot.name) is \(slot.shape), not \(outputCount)×\(cellCount)")
      }
      projection = slot
      let values = try node.optionalVector(17, count: outputCount, types: [.int32])
      projectionBias = try bias(slot, zeroPoint: hiddenValues.zeroPoint, bias: values, rows: outputCount)
      projectionMultiplier = FixedPointMultiplier(
        ScaleFactor.narrow(try node.quantization(of: slot).scale, hiddenValues.scale, over: stateScale))
      hiddenZeroPoint = 0 &- hiddenValues.zeroPoint
    } else {
      guard outputCount == cellCount else {
        throw node.malformed(
          "has \(cellCount) cells and \(outputCount) outputs without weights of a projection")
      }
      projection = nil
      projectionBias = TensorValues(values: [])
      projectionMultiplier = FixedPointMultiplier(0)
      hiddenZeroPoint = hiddenValues.zeroPoint
    }
    self.cellClip = cellClip > 0 ? Int16(min(cellClip / cellScale, 32767)) : 0
    self.projectionClip = projectionClip > 0 ? Int8(min(projectionClip / outputScale, 127)) : 0
    var scratch: [TensorSlot] = []
    for _ in 0..<4 { scratch.append(try node.scratch(cellCount, of: .int16)) }
    self.scratch = scratch
    hidden = try node.scratch(cellCount, of: .int8)
    (code, choice) = node.kernels.choose(otherwise: nil) { set throws(Decline) in
      try set.generatedKernels().recurrence(tangentBits: [3, 15 + exponent], wordCount: cellCount)
    }
  }

  var implementation: Implementation {
    Implementation(
      text: code == nil ? Implementation.plain.text : "generated products of four rows and gates of 16 bits",
      choice: choice)
  }

  func step(
    _ input: TensorSlot, auxiliary: TensorSlot?, row: Int, batch: Int, output: TensorSlot, offset: Int,
    _ tensors: borrowing TensorTable
  ) {
    if let inputGate { compute(inputGate, into: scratch[0], input, row, batch, isTanh: false, tensors) }
    compute(forgetGate, into: scratch[1], input, row, batch, isTanh: false, tensors)
    compute(cellGate, into: scratch[2], input, row, batch, isTanh: true, tensors)
    do {
      var cell = tensors.write(cellState, batch * cellCount..<(batch + 1) * cellCount, as: Int16.self)
      let shift = Int32(30 + cellExponent)
      if inputGate == nil {
        RecurrentWords.updateCell(
          &cell, forget: tensors.read(scratch[1]), values: tensors.read(scratch[2]), shift: shift,
          clip: cellClip)
      } else {
        RecurrentWords.updateCell(
          &cell, forget: tensors.read(scratch[1]), input: tensors.read(scratch[0]),
          values: tensors.read(scratch[2]), shift: shift, clip: cellClip)
      }
    }
    compute(outputGate, into: scratch[3], input, row, batch, isTanh: false, tensors)
    updateOutput(batch, output, offset, tensors)
  }

  private func compute(
    _ gate: Gate, into slot: TensorSlot, _ input: TensorSlot, _ row: Int, _ batch: Int, isTanh: Bool,
    _ tensors: borrowing TensorTable
  ) {
    var sums = tensors.write(slot, as: Int16.self)
    RecurrentWords.clear(&sums)
    RecurrentProducts.add(
      tensors.read(gate.input),
      tensors.read(input, as: Int8.self).extracting(row * inputCount..<(row + 1) * inputCount),
      bias: gate.inputBias.values.span, gate.inputMultiplier, to: &sums, using: code)
    RecurrentProducts.add(
      tensors.read(gate.recurrent),
      tensors.read(outputState, as: Int8.self).extracting(batch * outputCount..<(batch + 1) * outputCount),
      bias: gate.recurrentBias.values.span, gate.recurrentMultiplier, to: &sums,
      using: code)
    if let peephole = gate.peephole {
      let cells = tensors.read(cellState, as: Int16.self)
      RecurrentWords.addDiagonal(
        tensors.read(peephole), cells.extracting(batch * cellCount..<(batch + 1) * cellCount),
        gate.peepholeMultiplier, period: outputCount, first: peepholeRows > 1 ? batch * cellCount : 0,
        limit: peepholeRows * outputCount,
        to: &sums)
    }
    if let normalization = gate.normalization {
      RecurrentWords.normalize(
        &sums, coefficients: tensors.read(normalization), bias: tensors.read(gate.bias),
        gate.normalizationMultiplier, varianceGuard: gate.varianceGuard)
    }
    if isTanh {
      RecurrentWords.applyTanh(&sums, integerBits: 3, using: code)
    } else {
      RecurrentWords.applyLogistic(&sums, using: code)
    }
  }

  private func updateOutput(
    _ batch: Int, _ output: TensorSlot, _ offset: Int, _ tensors: borrowing TensorTable
  ) {
    do {
      let cells = tensors.read(cellState, as: Int16.self)
      var squashed = tensors.write(scratch[0], as: Int16.self)
      RecurrentWords.tanh(
        cells.extracting(batch * cellCount..<(batch + 1) * cellCount), integerBits: 15 + cellExponent,
        into: &squashed, using: code)
    }
    var state = tensors.write(outputState, batch * outputCount..<(batch + 1) * outputCount, as: Int8.self)
    if let projection {
      do {
        var hidden = tensors.write(hidden, as: Int8.self)
        RecurrentWords.multiply(
          tensors.read(scratch[3]), tensors.read(scratch[0]), hiddenMultiplier, zeroPoint: hiddenZeroPoint,
          into: &hidden)
      }
      RecurrentProducts.set(
        tensors.read(projection), tensors.read(hidden), bias: projectionBias.values.span,
        projectionMultiplier,
        zeroPoint: outputZeroPoint, &state)
      if projectionClip > 0 { RecurrentWords.clip(&state, to: projectionClip) }
    } else {
      RecurrentWords.multiply(
        tensors.read(scratch[3]), tensors.read(scratch[0]), hiddenMultiplier, zeroPoint: hiddenZeroPoint,
        into: &state)
    }
    var result = tensors.write(output, offset..<offset + outputCount, as: Int8.self)
    let newStates = tensors.read(outputState, as: Int8.self)
    RecurrentWords.copy(newStates.extracting(batch * outputCount..<(batch + 1) * outputCount), to: &result)
  }
}
