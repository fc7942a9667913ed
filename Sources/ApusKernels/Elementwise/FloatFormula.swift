// SPDX-License-Identifier: Apache-2.0

/// Functions and operations of floats, element by element, each of which reads inputs and results of those before it: what
/// generated code computes in one pass. Inputs and the result may be bytes that stand for floats.
package struct FloatFormula: Sendable {
  /// What a step reads.
  package enum Operand: Sendable {
    case input(Int)
    case step(Int)
  }

  /// What an input has for each element.
  package enum Input: Hashable, Sendable {
    case float
    /// One float for all elements of a row.
    case repeatedFloat
    case byte(isSigned: Bool)

    /// The size of an element.
    package var byteCount: Int { if case .byte = self { 1 } else { 4 } }
  }

  /// What is computed from inputs and from results of earlier steps.
  package enum Step: Sendable {
    case function(FloatFunction, Operand)
    /// The result is brought between the bounds; NaN passes.
    case operation(FloatOperation.Kind, Operand, Operand, minimum: Float, maximum: Float)
    /// The greater or the lesser; the second where they do not compare.
    case extremum(Extremum, Operand, Operand)
    /// The float that a byte stands for.
    case dequantization(Dequantization, Operand)
    /// The byte that stands for a float; as a result of all, it is stored as such.
    case quantization(FloatQuantization, Operand)
  }

  /// What is made of the last step.
  package enum Output: Hashable, Sendable {
    case float
    case byte(isSigned: Bool)
    /// The sum of all elements of a row, as one float.
    case sum

    /// The size of an element.
    package var byteCount: Int { if case .byte = self { 1 } else { 4 } }
  }

  /// The most inputs.
  static let mostInputs = 8

  /// The inputs, at most ``mostInputs``.
  package private(set) var inputs: [Input]
  /// The last one computes the result; without any, it is the first input.
  package private(set) var steps: [Step]
  /// Whether the results of each row are summed.
  private(set) var sums = false

  /// The form of the result.
  package var output: Output {
    if sums { return .sum }
    guard case .quantization(let quantization, _) = steps.last else { return .float }
    return .byte(isSigned: quantization.minimum < 0)
  }

  /// One step, of floats unless told otherwise.
  init(_ step: Step, of input: Input = .float) {
    steps = [step]
    inputs = Array(repeating: input, count: step.operands.count)
  }

  /// A formula of so many floats, without steps yet.
  init(inputCount: Int) {
    inputs = Array(repeating: .float, count: inputCount)
    steps = []
  }

  /// Whose result takes one step more; nil for a function that formulas do not have.
  func followed(by function: FloatFunction) -> Self? {
    guard function.isStep else { return nil }
    var copy = self
    copy.steps.append(.function(function, .step(steps.count - 1)))
    return copy
  }

  /// The sums of rows of its results.
  func summed() -> Self {
    var copy = self
    copy.sums = true
    return copy
  }

  /// Adds the steps of another formula, whose inputs are operands of this one, and answers what its result is.
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
    case .operation(_, let lhs, let rhs, _, _), .extremum(_, let lhs, let rhs): [lhs, rhs]
    }
  }

  /// The same of other operands.
  fileprivate func reading(_ operand: (FloatFormula.Operand) -> FloatFormula.Operand) -> Self {
    switch self {
    case .function(let function, let value): .function(function, operand(value))
    case .operation(let kind, let lhs, let rhs, let minimum, let maximum):
      .operation(kind, operand(lhs), operand(rhs), minimum: minimum, maximum: maximum)
    case .extremum(let kind, let lhs, let rhs): .extremum(kind, operand(lhs), operand(rhs))
    case .dequantization(let kind, let value): .dequantization(kind, operand(value))
    case .quantization(let kind, let value): .quantization(kind, operand(value))
    }
  }
}

extension FloatFormula {
  /// A function of one input; nil for one that formulas do not have.
  package init?(_ function: FloatFunction) {
    guard function.isStep else { return nil }
    self.init(.function(function, .input(0)))
  }

  /// An operation of two inputs.
  package init(_ operation: FloatOperation) {
    self.init(
      .operation(
        operation.kind, .input(0), .input(1), minimum: operation.bounds.minimum,
        maximum: operation.bounds.maximum))
  }

  /// What stands for bytes as floats.
  init(_ dequantization: Dequantization, isSigned: Bool) {
    self.init(.dequantization(dequantization, .input(0)), of: .byte(isSigned: isSigned))
  }

  /// What makes bytes of floats; nil where the zero point is no byte of the type.
  init?(_ quantization: FloatQuantization) {
    let range = quantization.minimum...quantization.maximum
    guard range.contains(quantization.zeroPoint), range.count <= 256 else { return nil }
    self.init(.quantization(quantization, .input(0)))
  }

  /// The same where some inputs have one float for all elements; nil where these are bytes.
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
  /// Whether formulas have it: sines of large numbers are done apart.
  fileprivate var isStep: Bool { self != .sin && self != .cos }
}
