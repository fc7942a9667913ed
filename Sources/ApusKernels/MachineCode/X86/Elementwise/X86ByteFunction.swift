// SPDX-License-Identifier: Apache-2.0

/// An elementwise function of quantized bytes by generated code; what is left over of a stretch is done one by one.
struct X86ByteFunction: BinaryFunction {
  private let planned: Code
  /// The code for operands neither of which stays: chains spread out an operand whose elements follow themselves.
  private let spread: Code?
  private let operation: Operation
  private let isSigned: Bool

  enum Operation {
    case sum(QuantizedSum)
    case product(QuantizedProduct)
  }

  /// What computes stretches along which each operand goes on by a step of one, or stays, with zero.
  private struct Code {
    let lhsStep: Int
    let rhsStep: Int
    let exact: X86ExactByteFunction
    /// A faster way to the same, for most elements.
    var single: (any X86ByteCode)?
  }

  /// Generates the function; throws where factors shift left, stretches are shorter than a block, or code cannot be placed.
  init(_ operation: Operation, target: X86Target, isSigned: Bool, _ shapes: BroadcastShapes) throws(Decline) {
    let plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result, joiningRows: true)
    let stretch = plan.longestStretch
    guard stretch >= X86ExactByteFunction.blockLength else {
      throw Decline("stretches of \(stretch) bytes are shorter than \(X86ExactByteFunction.blockLength)")
    }
    self.operation = operation
    self.isSigned = isSigned
    let steps = (plan.innerSteps[0], plan.innerSteps[1])
    planned = try Self.code(operation, target, isSigned: isSigned, steps, count: plan.elementCount)
    if let courses = shapes.courses, courses.lhs.repeats > 1 || courses.rhs.repeats > 1, steps != (1, 1) {
      spread = try Self.code(operation, target, isSigned: isSigned, (1, 1), count: plan.elementCount)
    } else {
      spread = nil
    }
  }

  private static func code(
    _ operation: Operation, _ target: X86Target, isSigned: Bool, _ steps: (lhs: Int, rhs: Int), count: Int
  ) throws(Decline) -> Code {
    let exact = try X86ExactByteFunction(operation, target: target, isSigned: isSigned, steps)
    var code = Code(lhsStep: steps.lhs, rhsStep: steps.rhs, exact: exact)
    switch operation {
    case .sum(let sum):
      if !sum.isSquared, count >= X86LinearSum.leastCount {
        code.single = X86LinearSum(sum, like: exact, steps, target: target, isSigned: isSigned)
      }
    case .product(let product):
      if count >= X86SingleProduct.leastCount {
        code.single = X86SingleProduct(product, steps, target: target, isSigned: isSigned)
      }
    }
    return code
  }

  var way: String {
    switch (operation, planned.single == nil) {
    case (.sum(let sum), _) where sum.isSquared: "generated squared differences in fixed point"
    case (.sum, true): "generated sums in fixed point"
    case (.sum, false): "generated sums in single precision"
    case (.product, true): "generated products in fixed point"
    case (.product, false): "generated products in single precision"
    }
  }

  static var leastTileLength: Int { 1 << 14 }

  @inline(__always)
  func callAsFunction(_ lhs: UInt8, _ rhs: UInt8) -> UInt8 {
    let (left, right) =
      isSigned
      ? (Int32(Int8(bitPattern: lhs)), Int32(Int8(bitPattern: rhs))) : (Int32(lhs), Int32(rhs))
    switch operation {
    case .sum(let sum): return UInt8(truncatingIfNeeded: sum(left, right))
    case .product(let product): return UInt8(truncatingIfNeeded: product(left, right))
    }
  }

  /// Rows up to this length are too short for a call each.
  private static let shortRow = 512
  /// The bytes that are spread out at a time: a kilobyte comes from the stack.
  private static let spreadCount = 1024

  func takesRows(of depth: Int) -> Bool { spread != nil && depth <= Self.shortRow }

  /// Spreads out the operand that has a byte for each row; and, if the other one has the same row for all, repeats that.
  func fill(
    _ output: UnsafeMutablePointer<UInt8>, rows: Int, depth: Int, lhs: UnsafePointer<UInt8>,
    lhsSteps: RowSteps, rhs: UnsafePointer<UInt8>, rhsSteps: RowSteps
  ) {
    let spreadsLeft = lhsSteps.inner == 0
    let (bytes, step) = unsafe spreadsLeft ? (lhs, lhsSteps.row) : (rhs, rhsSteps.row)
    let (other, otherSteps) = unsafe spreadsLeft ? (rhs, rhsSteps) : (lhs, lhsSteps)
    let repeats = otherSteps == (1, 0)
    guard repeats || otherSteps == (1, depth) else {
      for row in 0..<rows {
        unsafe fill(
          output + row &* depth, count: depth, lhs: lhs + row &* lhsSteps.row, lhsStep: lhsSteps.inner,
          rhs: rhs + row &* rhsSteps.row, rhsStep: rhsSteps.inner)
      }
      return
    }
    let most = min(rows, Self.spreadCount / depth)
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.spreadCount) { spread in
      unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.spreadCount) { row in
        guard let spread = spread.baseAddress, let row = row.baseAddress else { return }
        for index in 0..<(repeats ? most : 0) {
          unsafe (row + index &* depth).initialize(from: other, count: depth)
        }
        var first = 0
        while first < rows {
          let part = min(most, rows &- first)
          for index in 0..<part {
            unsafe (spread + index &* depth).initialize(
              repeating: bytes[(first &+ index) &* step], count: depth)
          }
          let (place, count) = (first &* depth, part &* depth)
          let rest = unsafe repeats ? UnsafePointer(row) : other + place
          unsafe fill(
            output + place, count: count, lhs: spreadsLeft ? UnsafePointer(spread) : rest, lhsStep: 1,
            rhs: spreadsLeft ? rest : UnsafePointer(spread), rhsStep: 1)
          first &+= part
        }
      }
    }
  }

  func fill(
    _ output: UnsafeMutablePointer<UInt8>, count: Int, lhs: UnsafePointer<UInt8>, lhsStep: Int,
    rhs: UnsafePointer<UInt8>, rhsStep: Int
  ) {
    var done = 0
    if planned.lhsStep == lhsStep, planned.rhsStep == rhsStep {
      done = unsafe fill(output, count, lhs, rhs, by: planned)
    } else if let spread, spread.lhsStep == lhsStep, spread.rhsStep == rhsStep {
      done = unsafe fill(output, count, lhs, rhs, by: spread)
    }
    while done < count {
      unsafe output[done] = self(lhs[done &* lhsStep], rhs[done &* rhsStep])
      done &+= 1
    }
  }

  /// Computes whole blocks, and answers how many elements they have.
  @inline(__always)
  private func fill(
    _ output: UnsafeMutablePointer<UInt8>, _ count: Int, _ lhs: UnsafePointer<UInt8>,
    _ rhs: UnsafePointer<UInt8>, by code: borrowing Code
  ) -> Int {
    var done = 0
    ExecutableMemory.seal()
    if let single = code.single, count >= single.blockLength {
      let blocks = count / single.blockLength
      unsafe single.fill(output, blocks: blocks, lhs: lhs, rhs: rhs)
      done = blocks &* single.blockLength
    }
    let blocks = (count &- done) / X86ExactByteFunction.blockLength
    if blocks > 0 {
      unsafe code.exact.fill(
        output + done, blocks: blocks, lhs: lhs + done &* code.lhsStep, rhs: rhs + done &* code.rhsStep)
      done &+= blocks &* X86ExactByteFunction.blockLength
    }
    return done
  }
}

/// Code that computes blocks of bytes of two operands.
protocol X86ByteCode: Sendable {
  /// The elements of a block.
  var blockLength: Int { get }

  /// Computes whole blocks; code must be sealed.
  func fill(
    _ output: UnsafeMutablePointer<UInt8>, blocks: Int, lhs: UnsafePointer<UInt8>, rhs: UnsafePointer<UInt8>)
}

/// A function of quantized bytes in fixed point, as the reference has it.
struct X86ExactByteFunction: X86ByteCode {
  private let function: CodeFunction<X86SumGenerator.Arguments>
  private let factors: X86SumFactors

  /// The bytes that the function does at once.
  static let blockLength = 16
  var blockLength: Int { Self.blockLength }

  /// Generates the function; throws where factors shift left, or code cannot be placed.
  init(
    _ operation: X86ByteFunction.Operation, target: X86Target, isSigned: Bool, _ steps: (lhs: Int, rhs: Int)
  ) throws(Decline) {
    let (lhs, rhs, output, kind): (QuantizedOperand, QuantizedOperand, QuantizedResult, X86SumGenerator.Kind)
    switch operation {
    case .sum(let sum):
      (lhs, rhs, output) = (sum.lhs, sum.rhs, sum.output)
      kind = sum.isSquared ? .squaredDifference : sum.isDifference ? .difference : .sum
    case .product(let product):
      let one = FixedPointMultiplier(0.5)
      lhs = QuantizedOperand(zeroPoint: product.lhsZeroPoint, multiplier: one)
      rhs = QuantizedOperand(zeroPoint: product.rhsZeroPoint, multiplier: one)
      (output, kind) = (product.output, .product)
    }
    let multipliers = [lhs.multiplier, rhs.multiplier, output.multiplier]
    if let factor = multipliers.first(where: { $0.value < 0 || !(-30...0).contains($0.shift) }) {
      throw Decline("a factor of \(factor.text) is negative, or does not shift right by 0 to 30 bits")
    }
    let generator = X86SumGenerator(
      target: target, kind: kind, isSigned: isSigned, lhsStays: steps.lhs == 0, rhsStays: steps.rhs == 0,
      lhsHalves: Self.isHalf(lhs.multiplier), rhsHalves: Self.isHalf(rhs.multiplier),
      lhsShifts: lhs.multiplier.shift != 0, rhsShifts: rhs.multiplier.shift != 0,
      outputShifts: output.multiplier.shift != 0)
    function = try unsafe CodeFunction(generator)
    factors = X86SumFactors(lhs: lhs, rhs: rhs, output: output, leftShift: kind.leftShift)
  }

  /// Whether a factor is exactly one half.
  private static func isHalf(_ multiplier: FixedPointMultiplier) -> Bool {
    multiplier.value == 1 << 30 && multiplier.shift == 0
  }

  func fill(
    _ output: UnsafeMutablePointer<UInt8>, blocks: Int, lhs: UnsafePointer<UInt8>, rhs: UnsafePointer<UInt8>
  ) {
    function.call(
      unsafe .init(
        lhs: Int(bitPattern: lhs), rhs: Int(bitPattern: rhs), output: Int(bitPattern: output), blocks: blocks,
        factors: Int(bitPattern: factors.address)))
  }
}

extension X86Target {
  /// The generated kernel of a sum of bytes; throws where there is none.
  func kernel(
    _ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel {
    let (shift, expected) = (sum.leftShift, sum.isSquared ? 7 : 20)
    guard shift == expected else {
      throw Decline("operands are shifted left by \(shift) bits, not \(expected)")
    }
    guard sum.isDifference || !sum.isSquared else { throw Decline("squares of sums have no code") }
    let function = try X86ByteFunction(.sum(sum), target: self, isSigned: isSigned, shapes)
    return BroadcastBinary(function, shapes)
  }

  /// The generated kernel of a product of bytes; throws where there is none.
  func kernel(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel {
    let function = try X86ByteFunction(.product(product), target: self, isSigned: isSigned, shapes)
    return BroadcastBinary(function, shapes)
  }
}
