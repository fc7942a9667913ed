// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// An operation of two floats by generated code.
private struct X86FloatOperation: BinaryFunction {
  let code: FormulaCode
  /// Code for two contiguous operands: chains spread out an operand whose elements are repeated. Nil if it is not needed.
  let spread: FormulaCode?
  let operation: FloatOperation

  static var minimumTileLength: Int { 1 << 14 }

  var loopDescription: String { "generated loop of a vector at a time" }

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float {
    operation.bounds.clamp(operation.kind(lhs, rhs))
  }

  func takesRows(of depth: Int) -> Bool { depth.isMultiple(of: FormulaCode.unit) }

  func fill(
    _ output: UnsafeMutablePointer<Float>, rows: Int, depth: Int, lhs: UnsafePointer<Float>,
    lhsSteps: RowSteps, rhs: UnsafePointer<Float>, rhsSteps: RowSteps
  ) {
    // The code is generated for the operands' steps along these rows.
    let inputs = SIMD8(Int(bitPattern: lhs), Int(bitPattern: rhs), 0, 0, 0, 0, 0, 0)
    let strides = SIMD8(lhsSteps.row &* 4, rhsSteps.row &* 4, 0, 0, 0, 0, 0, 0)
    code.run(
      .init(
        count: rows, output: Int(bitPattern: output), outputStride: depth &* 4, inputs: inputs,
        strides: strides), depth: depth)
  }

  func fill(
    _ output: UnsafeMutablePointer<Float>, count: Int, lhs: UnsafePointer<Float>, lhsStep: Int,
    rhs: UnsafePointer<Float>, rhsStep: Int
  ) {
    var code = code
    let inputs = code.inputs
    var fits =
      (lhsStep == 0) == (inputs[0] == .repeatedFloat) && (rhsStep == 0) == (inputs[1] == .repeatedFloat)
    if let spread, lhsStep != 0, rhsStep != 0 {
      code = spread
      fits = true
    }
    guard count >= code.lanes, fits else {
      for index in 0..<count {
        unsafe output[index] = self(lhs[index &* lhsStep], rhs[index &* rhsStep])
      }
      return
    }
    let addresses = SIMD8(Int(bitPattern: lhs), Int(bitPattern: rhs), 0, 0, 0, 0, 0, 0)
    code.run(.init(output: Int(bitPattern: output), inputs: addresses), depth: count)
  }
}

extension X86Target {
  /// The shortest stretch that takes longer than a call.
  private static let minimumStretch = 32

  /// The generated kernel of an operation of floats; throws if it would be no faster, or code cannot be placed.
  func kernel(_ operation: FloatOperation, _ shapes: BroadcastShapes) throws(Decline) -> any BinaryKernel {
    let plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result, joiningRows: true)
    let stretch = plan.longestStretch
    guard stretch >= Self.minimumStretch else {
      throw Decline("stretches of \(stretch) floats are shorter than \(Self.minimumStretch)")
    }
    let formula = FloatFormula(operation)
    let repeats = [plan.innerSteps[0] == 0, plan.innerSteps[1] == 0]
    let code = try self.formula(formula.repeating(repeats) ?? formula)
    var spread: FormulaCode?
    if let patterns = shapes.patterns, patterns.lhs.repeats > 1 || patterns.rhs.repeats > 1 {
      spread = try self.formula(formula)
    }
    return BroadcastBinary(
      X86FloatOperation(code: code, spread: spread, operation: operation), shapes, formula: formula)
  }
}
