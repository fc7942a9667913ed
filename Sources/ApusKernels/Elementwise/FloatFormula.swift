// SPDX-License-Identifier: Apache-2.0

/// Functions and operations of floats, element by element, each of which reads inputs and results of those before it: what
/// generated code computes in one pass.
package struct FloatFormula: Hashable, Sendable {
  /// What a step reads.
  enum Operand: Hashable, Sendable {
    case input(Int)
    case step(Int)
  }

  enum Step: Hashable, Sendable {
    case function(FloatFunction, Operand)
    /// The result is brought between the bounds; NaN passes.
    case operation(FloatOperation.Kind, Operand, Operand, minimum: Float, maximum: Float)
    /// Multiplies values below zero with factors.
    case parametricRelu(Operand, factors: Operand)
  }

  /// The most inputs.
  static let mostInputs = 8

  /// Which inputs have one float for all elements of a row.
  private(set) var repeats: [Bool]
  /// The last one computes the result; without any, it is the first input.
  private(set) var steps: [Step]
  /// Whether the results of each row are summed.
  private(set) var sums = false

  /// One step, of all of its inputs.
  init(_ step: Step) {
    steps = [step]
    repeats = Array(repeating: false, count: step.operands.count)
  }

  /// A formula of inputs, without steps yet.
  init(repeats: [Bool]) {
    self.repeats = repeats
    steps = []
  }

  /// Whose result takes one step more.
  func followed(by function: FloatFunction) -> Self {
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
    return other.steps.isEmpty ? operands[0] : .step(steps.count - 1)
  }
}

extension FloatFormula.Step {
  var operands: [FloatFormula.Operand] {
    switch self {
    case .function(_, let operand): [operand]
    case .operation(_, let lhs, let rhs, _, _): [lhs, rhs]
    case .parametricRelu(let value, let factors): [value, factors]
    }
  }

  /// The same of other operands.
  fileprivate func reading(_ operand: (FloatFormula.Operand) -> FloatFormula.Operand) -> Self {
    switch self {
    case .function(let function, let value): .function(function, operand(value))
    case .operation(let kind, let lhs, let rhs, let minimum, let maximum):
      .operation(kind, operand(lhs), operand(rhs), minimum: minimum, maximum: maximum)
    case .parametricRelu(let value, let factors):
      .parametricRelu(operand(value), factors: operand(factors))
    }
  }
}

extension FloatFormula {
  /// A function of one input.
  init(_ function: FloatFunction) { self.init(.function(function, .input(0))) }

  /// An operation of two inputs.
  init(_ operation: FloatOperation) {
    self.init(
      .operation(
        operation.kind, .input(0), .input(1), minimum: operation.bounds.minimum,
        maximum: operation.bounds.maximum))
  }

  /// The same where some inputs have one float for all elements.
  func repeating(_ repeats: [Bool]) -> Self {
    var copy = self
    copy.repeats = repeats
    return copy
  }
}
