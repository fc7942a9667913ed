// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

extension X86Target {
  /// Code for a function of floats; throws if there is none, or it cannot be placed.
  func mapping(_ function: FloatFunction) throws(Decline) -> FloatMapping {
    let generator = X86FunctionGenerator(target: self, function: function)
    if let limit = generator.limit {
      let code = try X86FunctionCode(generator)
      return { output, count, input in
        unsafe code.fill(output, count: count, input: input, limit: limit) { function($0) }
      }
    }
    guard let formula = FloatFormula(function) else { throw Decline("there is no code for \(function)") }
    return unsafe Self.mapping(try self.formula(formula))
  }

  /// Code that converts floats to the bits of `int32`, see ``X86FunctionGenerator/truncation(_:_:)``.
  func truncation() throws(Decline) -> FloatMapping {
    var program = X86VectorProgram()
    let result = X86FunctionGenerator.truncation(program.input(), &program)
    return unsafe Self.mapping(try code(program, result, of: [.float], to: .float))
  }

  private static func mapping(_ code: FormulaCode) -> FloatMapping {
    { output, count, input in
      code.map(Int(bitPattern: input), to: Int(bitPattern: output), count: count)
    }
  }
}

/// Placed code that is precise up to a limit, and its constants.
private struct X86FunctionCode {
  typealias Arguments = X86FunctionGenerator.Arguments

  private let function: CodeFunction<Arguments>
  private let constants: [UInt32]
  private let lanes: Int

  init(_ generator: X86FunctionGenerator) throws(Decline) {
    constants = try generator.constants()
    function = try unsafe CodeFunction(generator)
    lanes = generator.target.lanes
  }

  /// Computes `count` values; `beyond` computes those whose magnitude is not below the limit.
  func fill(
    _ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>, limit: Float,
    beyond: (Float) -> Float
  ) {
    let isInPlace = unsafe input == UnsafePointer(output)
    // Values are computed in parts if results overwrite arguments, which are copied first.
    let length = isInPlace ? 256 : count
    unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: 256) { memory in
      guard let copy = memory.baseAddress else { return }
      var first = 0
      while first < count {
        let part = min(length, count &- first)
        let (source, target) = unsafe (input + first, output + first)
        if isInPlace { unsafe copy.update(from: source, count: part) }
        let from = unsafe isInPlace ? UnsafePointer(copy) : source
        if unsafe fill(target, count: part, input: from) >= limit.bitPattern {
          for index in 0..<part where unsafe !(from[index].magnitude < limit) {
            unsafe target[index] = beyond(from[index])
          }
        }
        first &+= part
      }
    }
  }

  /// Computes values and returns the bits of the greatest magnitude. The remainder is computed in a vector padded with zeros.
  private func fill(
    _ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>
  ) -> UInt32 {
    ExecutableMemory.seal()
    var greatest: UInt32 = 0
    unsafe constants.withUnsafeBufferPointer { constants in
      let constants = Int(bitPattern: constants.baseAddress)
      func call(_ source: Int, _ target: Int, _ vectors: Int) {
        var lanes = SIMD16<UInt32>()
        unsafe withUnsafeMutablePointer(to: &lanes) { lanes in
          function.call(
            .init(
              source: source, target: target, vectors: vectors, constants: constants,
              magnitudes: Int(bitPattern: lanes)))
        }
        for lane in 0..<16 { greatest = max(greatest, lanes[lane]) }
      }
      let vectors = count / lanes
      let (source, target) = (Int(bitPattern: input), Int(bitPattern: output))
      if vectors > 0 { call(source, target, vectors) }
      let done = vectors &* lanes
      guard done < count else { return }
      var rest = SIMD16<Float>()
      for lane in 0..<count &- done { rest[lane] = unsafe input[done &+ lane] }
      unsafe withUnsafeMutablePointer(to: &rest) { rest in
        let place = Int(bitPattern: rest)
        call(place, place, 1)
      }
      for lane in 0..<count &- done { unsafe output[done &+ lane] = rest[lane] }
    }
    return greatest
  }
}
