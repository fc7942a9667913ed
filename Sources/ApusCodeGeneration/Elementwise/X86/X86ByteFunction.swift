// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// An elementwise function of quantized bytes by generated code. Elements after the last whole block are computed one by one.
struct X86ByteFunction: BinaryFunction {
  private let plannedCode: Code
  /// Code for two contiguous operands: chains, and rows, spread out an operand whose elements are repeated. Nil if it is not
  /// needed.
  private let spreadCode: Code?
  private let operation: Operation
  private let isSigned: Bool
  /// Why there is no code in single precision; nil if there is.
  private let declined: Decline?

  enum Operation {
    case sum(QuantizedSum)
    case product(QuantizedProduct)
  }

  /// Code for stretches of operands, each with a step of one, or zero for a byte that is broadcast.
  private struct Code {
    let lhsStep: Int
    let rhsStep: Int
    let exact: X86ExactByteFunction
    /// Faster code with the same results, for most elements.
    var single: (any X86ByteCode)?

    func withoutStaying() throws(Decline) -> Code {
      Code(lhsStep: 1, rhsStep: 1, exact: try exact.withoutStaying(), single: try single?.withoutStaying())
    }
  }

  /// Generates the function; throws if a multiplier shifts left, stretches are shorter than a block, or code cannot be placed.
  init(_ operation: Operation, target: X86Target, isSigned: Bool, _ shapes: BroadcastShapes) throws(Decline) {
    let plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result, joiningRows: true)
    let stretch = plan.longestStretch
    guard stretch >= X86SumGenerator.blockLength else {
      throw Decline("stretches of \(stretch) bytes are shorter than \(X86SumGenerator.blockLength)")
    }
    self.operation = operation
    self.isSigned = isSigned
    let (lhsStep, rhsStep) = (plan.innerSteps[0], plan.innerSteps[1])
    let exact = try X86ExactByteFunction(
      operation, target: target, isSigned: isSigned, (lhs: lhsStep, rhs: rhsStep))
    var code = Code(lhsStep: lhsStep, rhsStep: rhsStep, exact: exact)
    do throws(Decline) {
      code.single = try Self.single(operation, like: exact, target, isSigned: isSigned, plan.elementCount)
      declined = nil
    } catch {
      declined = error
    }
    plannedCode = code
    let spreads = shapes.patterns.map { $0.lhs.repeats > 1 || $0.rhs.repeats > 1 } ?? false
    spreadCode = spreads && (lhsStep, rhsStep) != (1, 1) ? try code.withoutStaying() : nil
  }

  /// Code in single precision with the results of `exact`; throws if there is none, or the search for it does not pay.
  private static func single(
    _ operation: Operation, like exact: X86ExactByteFunction, _ target: X86Target, isSigned: Bool,
    _ elementCount: Int
  ) throws(Decline) -> any X86ByteCode {
    func require(_ least: Int) throws(Decline) {
      guard elementCount >= least else { throw Decline("\(elementCount) elements are fewer than \(least)") }
    }
    switch operation {
    case .sum(let sum):
      guard !sum.isSquared else { throw Decline("squares have no such code") }
      try require(X86LinearSum.minimumCount)
      return try X86LinearSum(sum, like: exact, target: target, isSigned: isSigned)
    case .product(let product):
      try require(X86SingleProduct.minimumCount)
      return try X86SingleProduct(product, like: exact, target: target, isSigned: isSigned)
    }
  }

  var notes: [String] { declined.map { ["not in single precision: \($0)"] } ?? [] }

  var loopDescription: String {
    switch (operation, plannedCode.single == nil) {
    case (.sum(let sum), _) where sum.isSquared: "generated squared differences in fixed point"
    case (.sum, true): "generated sums in fixed point"
    case (.sum, false): "generated sums in single precision"
    case (.product, true): "generated products in fixed point"
    case (.product, false): "generated products in single precision"
    }
  }

  static var minimumTileLength: Int { 1 << 14 }

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

  /// The longest row, in bytes, that is too short for a call of its own.
  private static let shortRow = 512
  /// The number of bytes spread out at a time: a temporary allocation of a kilobyte comes from the stack.
  private static let spreadCount = 1024

  func takesRows(of depth: Int) -> Bool { spreadCode != nil && depth <= Self.shortRow }

  /// Spreads out the operand that has one byte for each row. If the other operand is one row for all, that row is repeated.
  func fill(
    _ output: UnsafeMutablePointer<UInt8>, rows: Int, depth: Int, lhs: UnsafePointer<UInt8>,
    lhsSteps: RowSteps, rhs: UnsafePointer<UInt8>, rhsSteps: RowSteps
  ) {
    let spreadsLeft = lhsSteps.inner == 0
    let (bytes, step) = unsafe spreadsLeft ? (lhs, lhsSteps.row) : (rhs, rhsSteps.row)
    let (other, otherSteps) = unsafe spreadsLeft ? (rhs, rhsSteps) : (lhs, lhsSteps)
    // One operand has a step of zero along a row, or there would be no code for spreading it. The other's rows are contiguous,
    // or one.
    let repeats = otherSteps.row == 0
    precondition(otherSteps.inner == 1 && (repeats || otherSteps.row == depth))
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
    if plannedCode.lhsStep == lhsStep, plannedCode.rhsStep == rhsStep {
      done = unsafe fillBlocks(output, count, lhs, rhs, by: plannedCode)
    } else if let spreadCode, lhsStep == 1, rhsStep == 1 {
      done = unsafe fillBlocks(output, count, lhs, rhs, by: spreadCode)
    }
    while done < count {
      unsafe output[done] = self(lhs[done &* lhsStep], rhs[done &* rhsStep])
      done &+= 1
    }
  }

  /// Computes whole blocks and returns the number of elements computed.
  @inline(__always)
  private func fillBlocks(
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
    let blocks = (count &- done) / code.exact.blockLength
    if blocks > 0 {
      unsafe code.exact.fill(
        output + done, blocks: blocks, lhs: lhs + done &* code.lhsStep, rhs: rhs + done &* code.rhsStep)
      done &+= blocks &* code.exact.blockLength
    }
    return done
  }
}

extension X86Target {
  /// The generated kernel of a sum of bytes; throws if there is none.
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

  /// The generated kernel of a product of bytes; throws if there is none.
  func kernel(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel {
    let function = try X86ByteFunction(.product(product), target: self, isSigned: isSigned, shapes)
    return BroadcastBinary(function, shapes)
  }
}
