// SPDX-License-Identifier: Apache-2.0

/// Generates operations of two rows of floats, a vector or longer, each of which may be one float for all.
///
/// The last vector of a row, which may overlap the one before it, is computed before all others and written after them, so
/// that a row may be written where it was read.
struct X86FloatOperationGenerator: CodeGenerator, Hashable {
  struct Arguments: CodeArguments {
    var lhs: Int
    var rhs: Int
    var output: Int
    /// Bytes of the vectors that do not overlap.
    var wholeByteCount: Int
    /// Where the last vector begins.
    var lastOffset: Int
    /// What results are brought between.
    var minimum: Float
    var maximum: Float
  }

  let target: X86Target
  let operation: FloatOperation.Kind
  let lhsStays: Bool
  let rhsStays: Bool

  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments

  // Registers.
  private let result = 0
  private let last = 1
  private let left = 2
  private let right = 3
  private let minimum = 4
  private let maximum = 5

  func generate() -> [UInt8]? {
    let width = target.width
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.lhs)))
    a.load(.rdx, .init(.rdi, A.offset(\.rhs)))
    a.load(.rsi, .init(.rdi, A.offset(\.output)))
    a.load(.r9, .init(.rdi, A.offset(\.wholeByteCount)))
    a.load(.r10, .init(.rdi, A.offset(\.lastOffset)))
    a.vector(.vbroadcastss, width, minimum, 0, .init(.rdi, A.offset(\.minimum)))
    a.vector(.vbroadcastss, width, maximum, 0, .init(.rdi, A.offset(\.maximum)))
    if lhsStays { a.vector(.vbroadcastss, width, left, 0, .init(.rax)) }
    if rhsStays { a.vector(.vbroadcastss, width, right, 0, .init(.rdx)) }
    compute(&a, last, at: .r10)
    a.zero(.rcx)
    let next = a.loopHead()
    compute(&a, result, at: .rcx)
    a.vector(.vmovupsStore, width, result, 0, Memory(.rsi, index: .rcx))
    a.add(.rcx, width.byteCount)
    a.compare(.rcx, .r9)
    a.jump(.notEqual, next)
    a.vector(.vmovupsStore, width, last, 0, Memory(.rsi, index: .r10))
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  private func compute(_ a: inout X86Assembler, _ result: Int, at place: X86Assembler.General) {
    let width = target.width
    if !lhsStays { a.vector(.vmovups, width, left, 0, Memory(.rax, index: place)) }
    let instruction: X86Assembler.Instruction =
      switch operation {
      case .add: .vaddps
      case .subtract, .squaredDifference: .vsubps
      case .multiply: .vmulps
      case .divide: .vdivps
      }
    if rhsStays {
      a.vector(instruction, width, result, left, right)
    } else {
      a.vector(instruction, width, result, left, Memory(.rdx, index: place))
    }
    if operation == .squaredDifference { a.vector(.vmulps, width, result, result, result) }
    // The second source is the answer where it is NaN.
    a.vector(.vmaxps, width, result, minimum, result)
    a.vector(.vminps, width, result, maximum, result)
  }
}

/// An operation of two floats by generated code.
private struct X86FloatOperation: BinaryFunction {
  let function: CodeFunction<X86FloatOperationGenerator.Arguments>
  /// The code for operands neither of which stays: chains spread out an operand whose elements follow themselves.
  let spread: CodeFunction<X86FloatOperationGenerator.Arguments>?
  let generator: X86FloatOperationGenerator
  let bounds: ScalarBounds<Float>

  static var leastTileLength: Int { 1 << 14 }

  var way: String { "generated loop of a vector at a time" }

  @inline(__always)
  func callAsFunction(_ lhs: Float, _ rhs: Float) -> Float {
    bounds.clamp(generator.operation(lhs, rhs))
  }

  func fill(
    _ output: UnsafeMutablePointer<Float>, count: Int, lhs: UnsafePointer<Float>, lhsStep: Int,
    rhs: UnsafePointer<Float>, rhsStep: Int
  ) {
    let lanes = generator.target.lanes
    var function = function
    var fits = (lhsStep == 0) == generator.lhsStays && (rhsStep == 0) == generator.rhsStays
    if let spread, lhsStep != 0, rhsStep != 0 {
      function = spread
      fits = true
    }
    guard count >= lanes, fits else {
      for index in 0..<count {
        unsafe output[index] = self(lhs[index &* lhsStep], rhs[index &* rhsStep])
      }
      return
    }
    ExecutableMemory.seal()
    let arguments = X86FloatOperationGenerator.Arguments(
      lhs: Int(bitPattern: lhs), rhs: Int(bitPattern: rhs), output: Int(bitPattern: output),
      wholeByteCount: count / lanes &* lanes &* 4, lastOffset: (count &- lanes) &* 4,
      minimum: bounds.minimum, maximum: bounds.maximum)
    function.call(arguments)
  }
}

extension X86Target {
  /// Stretches shorter than this take as long as a call.
  private static let leastStretch = 32

  /// The generated kernel of an operation of floats; throws where it would be no faster, or code cannot be placed.
  func kernel(_ operation: FloatOperation, _ shapes: BroadcastShapes) throws(Decline) -> any BinaryKernel {
    let plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result, joiningRows: true)
    let stretch = plan.longestStretch
    guard stretch >= Self.leastStretch else {
      throw Decline("stretches of \(stretch) floats are shorter than \(Self.leastStretch)")
    }
    let generator = X86FloatOperationGenerator(
      target: self, operation: operation.kind, lhsStays: plan.innerSteps[0] == 0,
      rhsStays: plan.innerSteps[1] == 0)
    var spread: CodeFunction<X86FloatOperationGenerator.Arguments>?
    if let courses = shapes.courses, courses.lhs.repeats > 1 || courses.rhs.repeats > 1 {
      spread = unsafe try CodeFunction(
        X86FloatOperationGenerator(
          target: self, operation: operation.kind, lhsStays: false, rhsStays: false))
    }
    return unsafe BroadcastBinary(
      X86FloatOperation(
        function: try CodeFunction(generator), spread: spread, generator: generator, bounds: operation.bounds),
      shapes)
  }
}
