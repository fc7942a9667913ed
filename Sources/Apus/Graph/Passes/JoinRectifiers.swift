// SPDX-License-Identifier: Apache-2.0
import ApusKernels

extension Pass {
  /// **Rule:** a sum of two piecewise linear functions of one float tensor, with a bend at zero and slope 1
  /// above it, becomes one function with a factor for each channel. It must give the same bits for zeros of either
  /// sign, underflow, overflow, infinities and NaN, and the steps between must have no other consumers.
  ///
  /// **Reason:** converters write PRELU as `RELU(x) + a · RELU(−x)`: five operators instead of one, which the
  /// producer of `x` may absorb.
  package static let rectifiers = Pass(
    "rectifiers",
    .segment { (plan, preparation) throws(ApusError) in try plan.joinRectifiers(preparation) })
}

extension PlanDraft {
  fileprivate func joinRectifiers(_ preparation: Preparation) throws(ApusError) {
    guard contains(where: { $0.floatSum != nil }) else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    let writers = writers
    for index in steps.indices where !isAbsorbed[index] {
      try limits.checkTime(at: index)
      guard let sum = steps[index].facet.floatSum,
        let rectifier = try rectifier(index, sum, writers: writers, preparation),
        rectifier.members.allSatisfy({ !isAbsorbed[$0] }),
        let tail = PostOperation(
          rectifiedSum: rectifier.factors, within: sum.minimum, sum.maximum, using: kernels)
      else { continue }
      steps[index] = steps[index].doing(
        RectifierOperator(tail, input: rectifier.input, output: sum.output),
        absorbing: rectifier.members.map { steps[$0] }, reads: [rectifier.input.index])
      for member in rectifier.members { isAbsorbed[member] = true }
    }
    removeSteps { isAbsorbed[$0] }
  }

  /// The maximum number of channels, because each has its own slope.
  private static let maximumChannels = 1 << 16

  /// A PRELU that is written as several steps.
  private struct Rectifier {
    let input: TensorSlot
    let factors: [Float]
    /// Its steps, without the sum.
    let members: [Int]
  }

  /// The PRELU that ends in a sum; nil if there is none.
  private func rectifier(
    _ index: Int, _ sum: FloatSum, writers: [Int], _ preparation: Preparation
  ) throws(ApusError) -> Rectifier? {
    guard sum.lhs.shape == sum.output.shape, sum.rhs.shape == sum.output.shape,
      let channels = sum.output.shape.dimensions.last, channels <= Self.maximumChannels
    else { return nil }
    let left = try path(to: sum.lhs, writers: writers, preparation)
    let right = try path(to: sum.rhs, writers: writers, preparation)
    // The tensor that both operands are computed from.
    for (leftCount, tensor) in left.tensors.enumerated() {
      guard let rightCount = right.tensors.firstIndex(where: { $0.index == tensor.index }) else { continue }
      let members = left.steps.prefix(leftCount) + right.steps.prefix(rightCount)
      guard tensor.shape == sum.output.shape, !isVariable(tensor.index), leftCount + rightCount > 1,
        Set(members).count == members.count,
        (left.tensors.prefix(leftCount) + right.tensors.prefix(rightCount)).allSatisfy({ between in
          !wiring.isOutput[between.index] && !wiring.isVariable(between.index)
            && wiring.readers(of: between.index).allSatisfy { reader in
              steps[index].does(reader) || members.contains { steps[$0].does(reader) }
            }
        }),
        let factors = Self.factors(
          try kinks(left.steps.prefix(leftCount).reversed(), preparation),
          try kinks(right.steps.prefix(rightCount).reversed(), preparation), of: sum, channels: channels)
      else { return nil }
      return Rectifier(input: tensor, factors: factors, members: members.sorted())
    }
    return nil
  }

  /// The chain of piecewise linear functions that computes a tensor: the tensor and its predecessors, latest
  /// first, and the step that computes each from the next.
  private func path(
    to tensor: TensorSlot, writers: [Int], _ preparation: Preparation
  ) throws(ApusError) -> (tensors: [TensorSlot], steps: [Int]) {
    var (tensors, path) = ([tensor], [Int]())
    while path.count < 6, let last = tensors.last, last.index < writers.count, writers[last.index] >= 0,
      facts[last.index].root == last.index, let (input, _) = try kink(writers[last.index], preparation)
    {
      path.append(writers[last.index])
      tensors.append(input)
    }
    return (tensors, path)
  }

  /// The effect of a step on slopes.
  private enum Kink {
    case negate, magnitude, rectify
    case multiply([Float])
  }

  private func kink(_ index: Int, _ preparation: Preparation) throws(ApusError) -> (
    input: TensorSlot, kink: Kink
  )? {
    if case .unary(let unary) = steps[index].facet {
      return switch unary.function {
      case .floats(.negate): (unary.input, .negate)
      case .floats(.absolute): (unary.input, .magnitude)
      case .floats(.clamp(minimum: 0, maximum: .infinity)): (unary.input, .rectify)
      default: nil
      }
    }
    guard let product = steps[index].facet.gatedProduct, case .floats = product.operands else {
      return nil
    }
    for (input, factor) in [(product.lhs, product.rhs), (product.rhs, product.lhs)]
    where factor.isConstant && !input.isConstant && factor.index < wiring.tensorCount
      && input.shape == product.output.shape
      && [1, factor.shape.dimensions.last].contains(factor.shape.elementCount)
    {
      if let constant = facts[factor.index].constant {
        _ = try preparation.pinned(constant)
        return (input, .multiply(try constant.values()))
      }
    }
    return nil
  }

  /// How each of some steps, given in order, changes slopes.
  private func kinks(_ path: [Int], _ preparation: Preparation) throws(ApusError) -> [Kink] {
    var kinks: [Kink] = []
    for index in path {
      if let (_, kink) = try kink(index, preparation) { kinks.append(kink) }
    }
    return kinks
  }

  /// The factors below zero of the sum of two paths' results; nil if a rectified sum would give other bits.
  private static func factors(
    _ first: [Kink], _ second: [Kink], of sum: FloatSum, channels: Int
  ) -> [Float]? {
    let bounds = (sum.minimum, sum.maximum)
    var factors: [Float] = []
    for channel in 0..<channels {
      guard let one = slopes(first, channel), let other = slopes(second, channel),
        // On each side of zero, one operand must be zero, so that the sum is exact.
        one.below == 0 || other.below == 0, one.above == 0 || other.above == 0, one.above + other.above == 1
      else { return nil }
      let factor = one.below + other.below
      for value in doubtful {
        let added = clamped(result(first, channel, value) + result(second, channel, value), bounds)
        let joined = PostOperation.rectifiedSum(value, factor: factor, within: bounds.0, bounds.1)
        guard added.bitPattern == joined.bitPattern || added.isNaN && joined.isNaN else { return nil }
      }
      factors.append(factor)
    }
    return factors
  }

  /// Values for which steps that agree on all others might differ.
  private static let doubtful: [Float] = [
    0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .infinity, -.infinity, .nan, 1.5, -1.5,
  ]

  /// A channel's slopes below and above zero after some steps, given in order; nil if one would round.
  private static func slopes(_ path: [Kink], _ channel: Int) -> (below: Float, above: Float)? {
    var (below, above): (Float, Float) = (1, 1)
    for kink in path {
      switch kink {
      case .negate: (below, above) = (-below, -above)
      case .magnitude: (below, above) = (-abs(below), abs(above))
      case .rectify: (below, above) = (min(below, 0), max(above, 0))
      case .multiply(let factors):
        guard let factor = factors.count == 1 ? factors.first : factors.element(channel),
          // Zero times infinity is NaN. So factors must be finite, and may be zero only below zero, where the
          // joined step multiplies as well.
          factor.isFinite, factor != 0 || above == 0 && below != 0, [0, 1].contains(abs(below)),
          [0, 1].contains(abs(above))
        else { return nil }
        (below, above) = (below * factor, above * factor)
      }
    }
    return (below, above)
  }

  /// The result of the steps for one value, computed as their operators do.
  private static func result(_ path: [Kink], _ channel: Int, _ value: Float) -> Float {
    path.reduce(value) { value, kink in
      switch kink {
      case .negate: -value
      case .magnitude: abs(value)
      case .rectify: value < 0 ? 0 : value
      case .multiply(let factors):
        clamped(
          value * (factors.count == 1 ? factors[0] : factors[channel]),
          (-.greatestFiniteMagnitude, .greatestFiniteMagnitude))
      }
    }
  }

  /// Clamps a value to two bounds; NaN passes.
  private static func clamped(_ value: Float, _ bounds: (minimum: Float, maximum: Float)) -> Float {
    value < bounds.minimum ? bounds.minimum : bounds.maximum < value ? bounds.maximum : value
  }
}

extension [Float] {
  fileprivate func element(_ index: Int) -> Float? { indices.contains(index) ? self[index] : nil }
}
