// SPDX-License-Identifier: Apache-2.0

/// An elementwise function of quantized bytes by generated code; what is left over of a stretch is done one by one.
struct X86ByteFunction: BinaryFunction {
  private let function: CodeFunction<X86SumGenerator.Arguments>
  private let factors: X86SumFactors
  let steps: (lhs: Int, rhs: Int)
  private let operation: Operation
  private let isSigned: Bool
  /// A faster way to the same, for most elements.
  private var linear: X86LinearSum?

  enum Operation {
    case sum(QuantizedSum)
    case product(QuantizedProduct)
  }

  /// Generates the function; throws where factors shift left, stretches are shorter than a block, or code cannot be placed.
  init(_ operation: Operation, target: X86Target, isSigned: Bool, _ shapes: BroadcastShapes) throws(Decline) {
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
    let plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result, joiningRows: true)
    if let factor = multipliers.first(where: { $0.value < 0 || !(-30...0).contains($0.shift) }) {
      throw Decline("a factor of \(factor.text) is negative, or does not shift right by 0 to 30 bits")
    }
    let stretch = plan.longestStretch
    guard stretch >= Self.blockLength else {
      throw Decline("stretches of \(stretch) bytes are shorter than \(Self.blockLength)")
    }
    steps = (plan.innerSteps[0], plan.innerSteps[1])
    let generator = X86SumGenerator(
      target: target, kind: kind, isSigned: isSigned, lhsStays: steps.lhs == 0, rhsStays: steps.rhs == 0,
      lhsHalves: Self.isHalf(lhs.multiplier), rhsHalves: Self.isHalf(rhs.multiplier),
      lhsShifts: lhs.multiplier.shift != 0, rhsShifts: rhs.multiplier.shift != 0,
      outputShifts: output.multiplier.shift != 0)
    function = try unsafe CodeFunction(generator)
    factors = X86SumFactors(lhs: lhs, rhs: rhs, output: output, leftShift: kind.leftShift)
    self.operation = operation
    self.isSigned = isSigned
    if case .sum(let sum) = operation, !sum.isSquared, plan.elementCount >= X86LinearSum.leastCount {
      linear = X86LinearSum(sum, like: self, target: target, isSigned: isSigned)
    }
  }

  var way: String {
    switch (operation, linear) {
    case (.sum(let sum), nil) where sum.isSquared: "generated squared differences in fixed point"
    case (.sum, nil): "generated sums in fixed point"
    case (.sum, _): "generated sums in single precision"
    case (.product, _): "generated products in fixed point"
    }
  }

  /// The bytes that the function does at once.
  private static let blockLength = 16

  /// Whether a factor is exactly one half.
  private static func isHalf(_ multiplier: FixedPointMultiplier) -> Bool {
    multiplier.value == 1 << 30 && multiplier.shift == 0
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

  func fill(
    _ output: UnsafeMutablePointer<UInt8>, count: Int, lhs: UnsafePointer<UInt8>, lhsStep: Int,
    rhs: UnsafePointer<UInt8>, rhsStep: Int
  ) {
    var done = 0
    let isAsPlanned = lhsStep == steps.lhs && rhsStep == steps.rhs
    ExecutableMemory.seal()
    if let linear, count >= linear.blockLength, isAsPlanned {
      let blocks = count / linear.blockLength
      unsafe linear.fill(output, blocks: blocks, lhs: lhs, rhs: rhs)
      done = blocks &* linear.blockLength
    }
    if count &- done >= Self.blockLength, isAsPlanned {
      let blocks = (count &- done) / Self.blockLength
      let arguments = unsafe X86SumGenerator.Arguments(
        lhs: Int(bitPattern: lhs + done &* lhsStep), rhs: Int(bitPattern: rhs + done &* rhsStep),
        output: Int(bitPattern: output + done), blocks: blocks, factors: Int(bitPattern: factors.address))
      function.call(arguments)
      done &+= blocks &* Self.blockLength
    }
    while done < count {
      unsafe output[done] = self(lhs[done &* lhsStep], rhs[done &* rhsStep])
      done &+= 1
    }
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
