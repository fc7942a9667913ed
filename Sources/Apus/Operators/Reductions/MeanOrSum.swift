// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `MEAN`, and `SUM` of quantized values.
///
/// Quantized sums are scaled in fixed point with two roundings; a mean has the count in its multiplier.
struct MeanOrSum: Operator {
  /// How results are computed from sums.
  enum Kind { case mean, sum }

  /// How sums become results.
  private enum Finish: Sendable {
    case quantized(QuantizedMean, width: Int)
    case quotient
    /// The mean of nothing: NaN, or zero for integers.
    case empty
  }

  private let elements: ScalarType
  private let walk: Reduction
  private let finish: Finish
  private let count: Int
  private let input: TensorSlot
  private let output: TensorSlot
  private let sums: TensorSlot
  private let sumByteCount: Int

  static func mean(_ node: Node) throws(ApusError) -> any Operator { try MeanOrSum(.mean, node) }

  init(_ kind: Kind, _ node: Node) throws(ApusError) {
    try node.expect(inputs: 2...2)
    input = try node.input(0, types: [.float32, .int32, .int64, .uint8, .int8, .int16])
    let axes = try FoldedAxes(node, input: input)
    output = try node.output(0, shape: axes.shape, like: input)
    count = axes.count
    walk = axes.reduction(of: input.shape.dimensions)
    var elements = input.type.scalarType(in: .reducible) ?? .float32
    var finish = Finish.quotient
    var bounds = output.type.integerRange
    switch input.type {
    case .uint8, .int8, .int16:
      if kind == .sum, input.type == .int8 {
        // The reference reads the bytes of a sum as uint8, whatever their sign.
        elements = .uint8
        bounds = 0...255
      }
      let (inputScale, inputZeroPoint) = try node.quantization(of: input)
      let (outputScale, outputZeroPoint) = try node.quantization(of: output)
      guard input.type != .int16 || inputZeroPoint == 0 && outputZeroPoint == 0 else {
        throw node.malformed("int16 has a zero point other than 0")
      }
      var multiplier = FixedPointMultiplier(ScaleFactor.wide(inputScale, over: outputScale))
      if kind == .mean { multiplier = multiplier.divided(by: count) }
      let sum = QuantizedMean(
        zeroSum: Int32(truncatingIfNeeded: Int(inputZeroPoint) &* count), multiplier: multiplier,
        zeroPoint: outputZeroPoint, minimum: Int32(bounds.lowerBound), maximum: Int32(bounds.upperBound))
      finish = .quantized(sum, width: input.type == .int16 ? 2 : 1)
    default: break
    }
    self.elements = elements
    self.finish = input.shape.elementCount == 0 ? .empty : finish
    // Wide enough for int32 sums of bytes, int64 sums of int32.
    sumByteCount = input.type == .int32 || input.type == .int64 ? 8 : 4
    sums = try node.scratch(count: walk.sumCount, width: sumByteCount)
  }

  var facet: Facet {
    guard elements == .float32, case .quotient = finish, let stage = walk.stage(.sum, divisor: count) else {
      return .plain
    }
    return .reduction(ChainStep(stage: stage, operands: [input], output: output))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    if case .empty = finish {
      let bits: Int64 = elements == .float32 ? Int64(Float.nan.bitPattern) : 0
      return fillElements(
        &result, with: bits, width: output.type.byteCount ?? 1, threads: tensors.threads)
    }
    var memory = tensors.writeBytes(sums)
    walk.sum(elements, tensors.readBytes(input), to: &memory, threads: tensors.threads)
    if tensors.threads.mustStop { return }
    // The sums of parts follow.
    let totals = tensors.readBytes(sums).extracting(first: walk.outputCount * sumByteCount)
    switch finish {
    case .quantized(let sum, let width):
      sum.store(totals, to: &result, width: width, threads: tensors.threads)
    case .quotient: divideSums(elements, totals, by: count, to: &result, threads: tensors.threads)
    case .empty: break
    }
  }
}
