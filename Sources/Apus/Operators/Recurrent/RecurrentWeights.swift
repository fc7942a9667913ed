// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A matrix, or a diagonal one, by which a recurrent operator multiplies a vector: floats, or bytes with a scale.
struct RecurrentWeights {
  private let slot: TensorSlot
  private let scale: Float
  private let isDiagonal: Bool

  /// Whether the vector has to be quantized.
  var isQuantized: Bool { slot.type == .int8 && !isDiagonal }
  /// Whether the vector has to be floats.
  fileprivate var isOfFloats: Bool { slot.type == .float32 && !isDiagonal }

  /// The matrix, if it is one of floats.
  var floats: TensorSlot? { isOfFloats ? slot : nil }

  fileprivate init(_ slot: TensorSlot, scale: Float, isDiagonal: Bool) {
    self.slot = slot
    self.scale = scale
    self.isDiagonal = isDiagonal
  }

  /// Adds the product with a vector, unless the run has to end.
  ///
  /// - Parameter clampsSums: whether infinite sums become the greatest float, if the matrix is one of floats.
  func add(
    _ vector: RecurrentVector, to sums: inout MutableSpan<Float>, clampsSums: Bool = false,
    _ tensors: borrowing TensorTable
  ) {
    if isDiagonal {
      let values = tensors.read(vector.slot, as: Float.self).extracting(vector.range)
      if slot.type == .float32 {
        RecurrentProducts.addDiagonal(tensors.read(slot), values, to: &sums)
      } else {
        RecurrentProducts.addDiagonal(tensors.read(slot), scale: scale, values, to: &sums)
      }
    } else if let quantized = vector.quantized, slot.type == .int8 {
      guard vector.scale != 0 else { return }
      RecurrentProducts.add(
        tensors.read(slot), tensors.read(quantized).extracting(0..<vector.range.count),
        scale: scale * vector.scale, to: &sums, threads: tensors.threads)
    } else {
      RecurrentProducts.add(
        tensors.read(slot), tensors.read(vector.slot, as: Float.self).extracting(vector.range), to: &sums,
        threads: tensors.threads)
      if clampsSums { RecurrentFloats.clampInfinities(of: &sums) }
    }
  }
}

/// A row of a tensor that weights are multiplied by.
struct RecurrentVector {
  fileprivate let slot: TensorSlot
  fileprivate let range: Range<Int>
  fileprivate let quantized: TensorSlot?
  fileprivate let scale: Float

  /// Describes a row of `count` values, quantized into scratch memory if weights need that.
  init(
    _ slot: TensorSlot, row: Int, count: Int, quantized: TensorSlot?, isAsymmetric: Bool,
    _ tensors: borrowing TensorTable
  ) {
    self.slot = slot
    self.quantized = quantized
    range = row * count..<(row + 1) * count
    guard let quantized else {
      scale = 1
      return
    }
    var result = tensors.write(quantized, 0..<count, as: Int16.self)
    scale = RecurrentFloats.quantize(
      tensors.read(slot, as: Float.self).extracting(range), isAsymmetric: isAsymmetric, into: &result)
  }
}

extension Node {
  /// Weights of `rows×depth`, or of `rows` on the diagonal; nil if the file leaves them out.
  func optionalRecurrentWeights(
    _ position: Int, rows: Int, depth: Int?
  ) throws(ApusError) -> RecurrentWeights? {
    guard let slot = try optionalInput(position, types: [.float32, .int8, .uint8]) else { return nil }
    let isDiagonal = depth == nil || slot.shape.rank == 1
    let shape: TensorShape = isDiagonal ? [rows] : [rows, depth ?? 1]
    guard slot.shape == shape else {
      throw malformed("\(slot.name) is \(slot.shape), not \(shape)")
    }
    if isDiagonal, let depth, depth < rows {
      throw malformed("\(slot.name), a diagonal of \(rows), is multiplied by \(depth) values")
    }
    guard slot.type != .float32 else { return RecurrentWeights(slot, scale: 0, isDiagonal: isDiagonal) }
    let scale = slot.quantization?.scales.first ?? 0
    guard scale.isFinite, scale > 0, slot.quantization?.scales.count == 1 else {
      throw malformed("\(slot.name) (\(slot.type)) has no single scale above zero")
    }
    // Old files declare signed bytes as unsigned.
    let bytes = TensorSlot(
      index: slot.index, entry: slot.entry, type: .int8, shape: slot.shape, isConstant: slot.isConstant)
    return RecurrentWeights(bytes, scale: scale, isDiagonal: isDiagonal)
  }

  /// Required weights.
  func recurrentWeights(_ position: Int, rows: Int, depth: Int?) throws(ApusError) -> RecurrentWeights {
    guard let weights = try optionalRecurrentWeights(position, rows: rows, depth: depth) else {
      throw malformed("has no input \(position)")
    }
    return weights
  }

  /// Whether vectors have to be quantized for all of these matrices; some may be missing.
  func areQuantized(_ weights: [RecurrentWeights?]) throws(ApusError) -> Bool {
    let areQuantized = weights.contains { $0?.isQuantized == true }
    guard !areQuantized || !weights.contains(where: { $0?.isOfFloats == true }) else {
      throw malformed("has weights of bytes and of floats")
    }
    return areQuantized
  }

  /// A vector of `count` floats, or of other `types`; nil if the file leaves it out.
  func optionalVector(
    _ position: Int, count: Int, types: [ElementType] = [.float32]
  ) throws(ApusError) -> TensorSlot? {
    guard let slot = try optionalInput(position, types: types) else { return nil }
    guard slot.shape == [count] else { throw malformed("\(slot.name) is \(slot.shape), not \(count)") }
    return slot
  }

  /// A required vector.
  func vector(_ position: Int, count: Int, types: [ElementType] = [.float32]) throws(ApusError) -> TensorSlot
  {
    guard let slot = try optionalVector(position, count: count, types: types) else {
      throw malformed("has no input \(position)")
    }
    return slot
  }

  /// A state that lives between runs, of `rows×count` elements in one or two dimensions.
  func state(_ position: Int, rows: Int, count: Int, type: ElementType) throws(ApusError) -> TensorSlot {
    let slot = try input(position, types: [type])
    guard isVariable(slot) else { throw malformed("\(slot.name) is not a variable") }
    let (total, overflow) = rows.multipliedReportingOverflow(by: count)
    guard !overflow, slot.shape.elementCount == total else {
      throw malformed("\(slot.name) is \(slot.shape), not \(rows)×\(count)")
    }
    return slot
  }

  /// Scratch memory for some elements of a type.
  func scratch(_ count: Int, of type: ElementType) throws(ApusError) -> TensorSlot {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: type.byteCount ?? 1)
    guard !overflow else { throw malformed("needs more memory than can be counted") }
    let slot = try scratch(byteCount: bytes)
    return TensorSlot(
      index: slot.index, entry: nil, type: type, shape: [count], isConstant: false)
  }

  /// The activation that an option names; one that recurrent operators support.
  func recurrentActivation(_ value: Int) throws(ApusError) -> RecurrentActivation {
    guard let activation = FusedActivation(rawValue: value) else {
      throw malformed("fused activation \(value) is unknown")
    }
    switch activation {
    case .none: return .none
    case .relu: return .relu
    case .reluN1To1: return .reluN1To1
    case .relu6: return .relu6
    case .tanh: return .tanh
    case .signBit: return .signBit
    }
  }
}

/// The order of rows in an input of sequences.
struct SequenceLayout {
  let batch: Int
  let time: Int
  let isTimeMajor: Bool
  /// Whether a step reads one sequence: the reference takes those of a batch one after the other, unless time is the first axis.
  var readsOneSequence: Bool { !isTimeMajor || batch == 1 }
  /// The multiply-accumulates of all steps.
  let work: Double
  /// The multiply-accumulates of all steps, and each step's other work.
  let runWork: Double

  /// The layout of an operator's input of rank 2 (one step) or 3. Throws if the steps, each of which reads
  /// all weights, take too long.
  init(_ node: Node, _ shape: TensorShape, isTimeMajor: Bool) throws(ApusError) {
    self.isTimeMajor = isTimeMajor
    batch = shape.rank == 2 ? shape[0] : shape[isTimeMajor ? 1 : 0]
    time = shape.rank == 2 ? 1 : shape[isTimeMajor ? 0 : 1]
    var weightCount = 0.0
    for position in 1..<max(node.inputCount, 1) {
      guard let slot = try node.optionalInput(position), slot.shape.rank <= 2 else { continue }
      weightCount += Double(slot.shape.elementCount)
    }
    let steps = Double(batch) * Double(time)
    work = steps * weightCount
    runWork = steps * (weightCount + 64)
    try node.declare(multiplyAccumulates: work)
    try node.check(work: runWork)
  }

  /// The row of a step.
  func row(batch index: Int, time step: Int) -> Int {
    isTimeMajor ? step * batch + index : index * time + step
  }
}
