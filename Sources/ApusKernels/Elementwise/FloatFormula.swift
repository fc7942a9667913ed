// SPDX-License-Identifier: Apache-2.0

/// A sequence of functions and operations of floats, computed element by element by generated code in one pass. Each step reads
/// inputs and results of earlier steps. Inputs and the result may be bytes that stand for floats.
package struct FloatFormula: Sendable {
  /// An operand of a step: an input or the result of an earlier step.
  package enum Operand: Sendable {
    case input(Int)
    case step(Int)
  }

  /// The form of an input's elements.
  package enum Input: Hashable, Sendable {
    case float
    /// One float for all elements of a row.
    case repeatedFloat
    case byte(isSigned: Bool)

    /// The bytes of an element.
    package var byteCount: Int { if case .byte = self { 1 } else { 4 } }
  }

  /// A function or an operation, computed from inputs and from results of earlier steps.
  package enum Step: Sendable {
    case function(FloatFunction, Operand)
    /// The result is clamped to the bounds; NaN passes.
    case operation(FloatOperation.Kind, Operand, Operand, minimum: Float, maximum: Float)
    /// The float that a byte stands for.
    case dequantization(Dequantization, Operand)
    /// The byte that stands for a float; the result of the last step is stored as a byte.
    case quantization(FloatQuantization, Operand)
  }

  /// The form in which the last step's results are stored.
  package enum Output: Hashable, Sendable {
    case float
    case byte(isSigned: Bool)
    /// The sum of all elements of a row, as one float.
    case sum

    /// The bytes of an element.
    package var byteCount: Int { if case .byte = self { 1 } else { 4 } }
  }

  /// The maximum number of inputs.
  static let maximumInputs = 8

  /// The inputs, at most ``maximumInputs``.
  package private(set) var inputs: [Input]
  /// The steps, the last of them the result; without steps, the result is the first input.
  package private(set) var steps: [Step]
  /// Whether the results of each row are summed.
  private(set) var sums = false

  /// The form of the result.
  package var output: Output {
    if sums { return .sum }
    guard case .quantization(let quantization, _) = steps.last else { return .float }
    return .byte(isSigned: quantization.minimum < 0)
  }

  /// A formula of one step; its inputs are floats unless told otherwise.
  init(_ step: Step, of input: Input = .float) {
    steps = [step]
    inputs = Array(repeating: input, count: step.operands.count)
  }

  /// A formula of `inputCount` floats, without steps yet.
  init(inputCount: Int) {
    inputs = Array(repeating: .float, count: inputCount)
    steps = []
  }

  /// The formula with a function applied to its result; nil for a function that cannot be a step.
  func followed(by function: FloatFunction) -> Self? {
    guard function.isStep else { return nil }
    var copy = self
    copy.steps.append(.function(function, .step(steps.count - 1)))
    return copy
  }

  /// The formula with the results of each row summed.
  func summed() -> Self {
    var copy = self
    copy.sums = true
    return copy
  }

  /// Appends the steps of another formula, which reads `operands` as its inputs, and returns the operand that has its result.
  mutating func append(_ other: FloatFormula, of operands: [Operand]) -> Operand {
    let first = steps.count
    func own(_ operand: Operand) -> Operand {
      switch operand {
      case .input(let number): operands[number]
      case .step(let number): .step(first + number)
      }
    }
    for step in other.steps { steps.append(step.reading(own)) }
    for (input, operand) in zip(other.inputs, operands) {
      if case .input(let number) = operand, case .byte = input { inputs[number] = input }
    }
    return other.steps.isEmpty ? operands[0] : .step(steps.count - 1)
  }
}

extension FloatFormula.Step {
  var operands: [FloatFormula.Operand] {
    switch self {
    case .function(_, let operand), .dequantization(_, let operand), .quantization(_, let operand): [operand]
    case .operation(_, let lhs, let rhs, _, _): [lhs, rhs]
    }
  }

  /// The step with each operand replaced by another.
  fileprivate func reading(_ operand: (FloatFormula.Operand) -> FloatFormula.Operand) -> Self {
    switch self {
    case .function(let function, let value): .function(function, operand(value))
    case .operation(let kind, let lhs, let rhs, let minimum, let maximum):
      .operation(kind, operand(lhs), operand(rhs), minimum: minimum, maximum: maximum)
    case .dequantization(let kind, let value): .dequantization(kind, operand(value))
    case .quantization(let kind, let value): .quantization(kind, operand(value))
    }
  }
}

extension FloatFormula {
  /// The formula of a function of one input; nil for a function that cannot be a step.
  package init?(_ function: FloatFunction) {
    guard function.isStep else { return nil }
    self.init(.function(function, .input(0)))
  }

  /// The formula of an operation of two inputs.
  package init(_ operation: FloatOperation) {
    self.init(
      .operation(
        operation.kind, .input(0), .input(1), minimum: operation.bounds.minimum,
        maximum: operation.bounds.maximum))
  }

  /// The formula that dequantizes bytes.
  init(_ dequantization: Dequantization, isSigned: Bool) {
    self.init(.dequantization(dequantization, .input(0)), of: .byte(isSigned: isSigned))
  }

  /// The formula that quantizes floats to bytes; nil if the bounds are wider than a byte or exclude the zero point.
  init?(_ quantization: FloatQuantization) {
    let range = quantization.minimum...quantization.maximum
    guard range.contains(quantization.zeroPoint), range.count <= 256 else { return nil }
    self.init(.quantization(quantization, .input(0)))
  }

  /// The formula with one float for all elements of a row in some inputs; nil if one of these has bytes.
  package func repeating(_ isRepeated: [Bool]) -> Self? {
    var copy = self
    for index in inputs.indices where isRepeated[index] {
      guard inputs[index].byteCount == 4 else { return nil }
      copy.inputs[index] = .repeatedFloat
    }
    return copy
  }
}

extension FloatFunction {
  /// Whether formulas can have the function as a step: a formula has no second code for large arguments.
  fileprivate var isStep: Bool { vectorLimit == nil }
}
