// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates softmax of rows of floats that fill a vector or more: maximum, exponentials and their sum, then quotients with the
/// sum. Or log-softmax: the distance from the maximum, less the sum's logarithm.
///
/// The last vector of a row, which may overlap the one before it, is computed first and written last, so that results may
/// overwrite their row. Its exponentials are added to the sum only in lanes that no other vector has.
struct X86SoftmaxGenerator: CodeGenerator, Hashable {
  struct Arguments: CodeArguments {
    var source = 0
    var target = 0
    var rows = 0
    /// The bytes of a row.
    var rowByteCount = 0
    /// The bytes of the vectors of a row that do not overlap.
    var wholeByteCount = 0
    /// The bytes of the vectors of a row that are computed ``vectorsAtOnce`` at a time.
    var wideByteCount = 0
    /// The offset of a row's last vector, in bytes.
    var lastOffset = 0
    var constants = 0
    /// The address of a mask: all bits in the lanes of the last vector that no other vector of its row has.
    var mask = 0
    var beta: Float = 0
    var least: Float = -.greatestFiniteMagnitude
    var one: Float = 1
  }

  let target: X86Target
  /// Whether the factor β is above zero, so that no exponent is.
  let isBelowZero: Bool
  /// Whether rows end within a vector.
  let hasRest: Bool
  /// Whether results are logarithms; the factor β is one then.
  let isLogarithm: Bool

  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments
  private var width: X86Assembler.Width { target.width }

  // Registers. The program of the exponential has those below.
  private let spare = 8
  private let mask = 9
  private let least = 10
  private let beta = 11
  private let one = 12
  private let last = 13
  private let sum = 14
  /// The maximum of a row, and later the factor of its exponentials.
  private let most = 15

  /// Vectors whose exponentials are computed side by side.
  static let vectorsAtOnce = 2

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    a.load(.r8, .init(.rdi, A.offset(\.rows)))
    a.load(.r9, .init(.rdi, A.offset(\.wholeByteCount)))
    a.load(.r10, .init(.rdi, A.offset(\.lastOffset)))
    a.load(.rsi, .init(.rdi, A.offset(\.constants)))
    program.0.holdConstants(&a, target, at: .rsi)
    a.load(.rcx, .init(.rdi, A.offset(\.mask)))
    a.vector(.vmovups, width, mask, 0, Memory(.rcx))
    a.vector(.vbroadcastss, width, beta, 0, Memory(.rdi, A.offset(\.beta)))
    a.vector(.vbroadcastss, width, least, 0, Memory(.rdi, A.offset(\.least)))
    a.vector(.vbroadcastss, width, one, 0, Memory(.rdi, A.offset(\.one)))

    let nextRow = a.loopHead()
    // The instruction returns the second source, the maximum so far, if the value is NaN.
    if hasRest {
      a.vector(.vmovups, width, spare, 0, Memory(.rax, index: .r10))
      a.vector(.vmaxps, width, most, spare, least)
    } else {
      a.vector(.vmovdqu, width, most, 0, least)
    }
    forEachVector(&a) { a in
      a.vector(.vmovups, width, spare, 0, Memory(.rax, index: .rcx))
      a.vector(.vmaxps, width, most, spare, most)
    }
    reduce(&a, most, .vmaxps)

    if hasRest {
      guard let end = exponential(&a, at: Memory(.rax, index: .r10)) else { return nil }
      a.vector(.vmovups, width, last, 0, end)
      a.vector(.vpand, width, sum, last, mask)
      if isLogarithm { a.vector(.vmovups, width, last, 0, Memory(.rax, index: .r10)) }
    } else {
      a.vector(.vpxor, width, sum, sum, sum)
    }
    a.zero(.rcx)
    let (single, done) = (a.makeLabel(), a.makeLabel())
    a.load(.r11, Memory(.rdi, A.offset(\.wideByteCount)))
    a.test(.r11)
    a.jump(.equal, single)
    guard writeExponentials(&a, Self.vectorsAtOnce, until: .r11) else { return nil }
    a.place(single)
    a.compare(.rcx, .r9)
    a.jump(.equal, done)
    guard writeExponentials(&a, 1, until: .r9) else { return nil }
    a.place(done)
    reduce(&a, sum, .vaddps)

    if isLogarithm {
      let (program, result) = logarithm
      a.address(.r11, Memory(.rsi, exponentialConstants.count * 4))
      guard
        let logarithm = program.write(
          result, to: &a, target, registerCount: spare, inputs: [[]], constants: .r11, areHeld: false)
      else { return nil }
      a.vector(.vmovups, width, sum, 0, logarithm[0])
    } else {
      a.vector(.vdivps, width, most, one, sum)
    }
    forEachVector(&a) { a in
      a.vector(.vmovups, width, spare, 0, Memory((isLogarithm ? .rax : .rdx), index: .rcx))
      finish(&a, spare)
      a.vector(.vmovupsStore, width, spare, 0, Memory(.rdx, index: .rcx))
    }
    if hasRest {
      finish(&a, last)
      a.vector(.vmovupsStore, width, last, 0, Memory(.rdx, index: .r10))
    }
    a.add(.rax, Memory(.rdi, A.offset(\.rowByteCount)))
    a.add(.rdx, Memory(.rdi, A.offset(\.rowByteCount)))
    a.decrement(.r8)
    a.jump(.notEqual, nextRow)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// Writes a loop from the offset `rcx` on that sums and stores exponentials, `count` vectors at a time.
  private func writeExponentials(
    _ a: inout X86Assembler, _ count: Int, until end: X86Assembler.General
  ) -> Bool {
    let next = a.loopHead()
    let (program, result) = program
    let offsets = (0..<count).map { $0 * width.byteCount }
    guard
      let registers = program.write(
        result, to: &a, target, registerCount: spare,
        inputs: offsets.map { [Memory(.rax, index: .rcx, $0)] }, constants: .rsi)
    else { return false }
    for (register, offset) in zip(registers, offsets) {
      if !isLogarithm { a.vector(.vmovupsStore, width, register, 0, Memory(.rdx, index: .rcx, offset)) }
      a.vector(.vaddps, width, sum, sum, register)
    }
    a.add(.rcx, count * width.byteCount)
    a.compare(.rcx, end)
    a.jump(.notEqual, next)
    return true
  }

  /// A loop over the vectors of a row that do not overlap; `rcx` is the offset of each.
  private func forEachVector(_ a: inout X86Assembler, _ body: (inout X86Assembler) -> Void) {
    a.zero(.rcx)
    let next = a.loopHead()
    body(&a)
    a.add(.rcx, width.byteCount)
    a.compare(.rcx, .r9)
    a.jump(.notEqual, next)
  }

  /// Computes a result from an exponential, or from an argument for logarithms.
  private func finish(_ a: inout X86Assembler, _ register: Int) {
    guard isLogarithm else { return a.vector(.vmulps, width, register, register, most) }
    a.vector(.vsubps, width, register, register, most)
    a.vector(.vsubps, width, register, register, sum)
  }

  /// The logarithm of the sum.
  private var logarithm: (X86VectorProgram, result: X86VectorProgram.Value) {
    var program = X86VectorProgram()
    let sum = program.held(in: sum)
    let result = X86FunctionGenerator.logarithm(sum, &program, target)
    return (program, result)
  }

  /// Computes a vector of exponentials and returns the register that holds it.
  private func exponential(_ a: inout X86Assembler, at place: Memory) -> Int? {
    let (program, result) = program
    return program.write(
      result, to: &a, target, registerCount: spare, inputs: [[place]], constants: .rsi)?[0]
  }

  /// The program of `e^(β·(x − most))`. If no exponent is above zero, it is scaled by 2²⁴ for quotients with the sum, so that
  /// it is normal. Logarithms need no scaling: they use the sum alone, which is one or more.
  private var program: (X86VectorProgram, result: X86VectorProgram.Value) {
    var program = X86VectorProgram()
    let (most, beta) = (program.held(in: 15), program.held(in: 11))
    let distance = program.subtract(program.input(), .value(most))
    let exponent = program.multiply(distance, .value(beta))
    let result: X86VectorProgram.Value
    if !isBelowZero {
      result = X86FunctionGenerator.exponential(exponent, &program, target)
    } else if isLogarithm {
      result = X86FunctionGenerator.exponentialBelowZero(exponent, &program, target)
    } else {
      // Masked elements become zero, not subnormal: arithmetic on subnormal numbers is slow.
      let least: Float = target == .avx512 ? -130 : -104.7
      result = X86FunctionGenerator.enlargedExponential(exponent, least: least, &program, target)
    }
    // The steps are added before the program is copied.
    return (program, result)
  }

  private var exponentialConstants: [UInt32] { X86FunctionGenerator.constants(of: program.0, target) }

  /// The constants, in the form in which the code reads them.
  var constants: [UInt32] {
    exponentialConstants + (isLogarithm ? X86FunctionGenerator.constants(of: logarithm.0, target) : [])
  }

  /// Reduces all lanes and broadcasts the result.
  private func reduce(_ a: inout X86Assembler, _ register: Int, _ instruction: X86Assembler.Instruction) {
    a.foldLanes(register, width, instruction, spare: spare)
    a.vector(.vbroadcastss, width, register, 0, register)
  }
}

extension X86Target {
  /// Code for softmax of rows of `depth` floats, or for log-softmax; throws if they do not fill a vector, or code cannot be
  /// placed.
  func softmax(beta: Float, depth: Int, isLogarithm: Bool) throws(Decline) -> FloatMapping {
    guard depth >= lanes else { throw Decline("rows of \(depth) floats do not fill a vector of \(lanes)") }
    let generator = X86SoftmaxGenerator(
      target: self, isBelowZero: beta > 0, hasRest: depth % lanes != 0, isLogarithm: isLogarithm)
    let code = unsafe X86SoftmaxCode(
      function: try CodeFunction(generator), constants: generator.constants, lanes: lanes, beta: beta,
      depth: depth)
    return { output, count, input in unsafe code.fill(output, count: count, input: input) }
  }
}

/// Placed code of softmax and its constants.
private struct X86SoftmaxCode {
  private let function: CodeFunction<X86SoftmaxGenerator.Arguments>
  private let constants: [UInt32]
  private let mask: [UInt32]
  private let numbers: X86SoftmaxGenerator.Arguments
  private let depth: Int

  init(
    function: CodeFunction<X86SoftmaxGenerator.Arguments>, constants: [UInt32], lanes: Int, beta: Float,
    depth: Int
  ) {
    self.function = function
    self.constants = constants
    self.depth = depth
    let rest = depth % lanes
    mask = (0..<lanes).map { $0 < lanes - rest ? 0 : .max }
    numbers = X86SoftmaxGenerator.Arguments(
      rowByteCount: 4 * depth, wholeByteCount: 4 * (depth - rest),
      wideByteCount: 4 * depth / (4 * lanes * X86SoftmaxGenerator.vectorsAtOnce)
        * (4 * lanes * X86SoftmaxGenerator.vectorsAtOnce), lastOffset: 4 * (depth - lanes),
      beta: beta)
  }

  /// Computes whole rows.
  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    guard count >= depth else { return }
    ExecutableMemory.seal()
    unsafe constants.withUnsafeBufferPointer { constants in
      unsafe mask.withUnsafeBufferPointer { mask in
        var arguments = numbers
        arguments.source = Int(bitPattern: input)
        arguments.target = Int(bitPattern: output)
        arguments.rows = count / depth
        arguments.constants = Int(bitPattern: constants.baseAddress)
        arguments.mask = Int(bitPattern: mask.baseAddress)
        function.call(arguments)
      }
    }
  }
}
