/// An elementwise function of quantized bytes by generated code, with another function for what is left over.
struct X86Sum<Rest: BinaryFunction>: BinaryFunction, @unchecked Sendable
where Rest.Left == UInt8, Rest.Right == UInt8, Rest.Result == UInt8 {
  // @unchecked: the address is of code that is never changed.
  private let function: UnsafeRawPointer
  private let factors: X86SumFactors
  private let steps: (lhs: Int, rhs: Int)
  private let rest: Rest

  /// Generates the function; nil where factors shift left or code cannot be placed.
  init?(
    _ kind: X86SumGenerator.Kind, target: X86Target, isSigned: Bool, lhs: QuantizedOperand,
    rhs: QuantizedOperand,
    output: QuantizedResult, _ shapes: BroadcastShapes, rest: Rest
  ) {
    let multipliers = [lhs.multiplier, rhs.multiplier, output.multiplier]
    guard multipliers.allSatisfy({ $0.value >= 0 && (-30...0).contains($0.shift) }) else { return nil }
    let innerSteps = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result).innerSteps
    steps = (innerSteps[0], innerSteps[1])
    let generator = X86SumGenerator(
      target: target, kind: kind, isSigned: isSigned, lhsStays: steps.lhs == 0, rhsStays: steps.rhs == 0,
      lhsHalves: Self.isHalf(lhs.multiplier), rhsHalves: Self.isHalf(rhs.multiplier),
      lhsShifts: lhs.multiplier.shift != 0, rhsShifts: rhs.multiplier.shift != 0,
      outputShifts: output.multiplier.shift != 0)
    guard let function = generator.place() else { return nil }
    unsafe self.function = function
    factors = X86SumFactors(lhs: lhs, rhs: rhs, output: output)
    self.rest = rest
  }

  /// Whether a factor is exactly one half.
  private static func isHalf(_ multiplier: FixedPointMultiplier) -> Bool {
    multiplier.value == 1 << 30 && multiplier.shift == 0
  }

  @inline(__always)
  func callAsFunction(_ lhs: UInt8, _ rhs: UInt8) -> UInt8 { rest(lhs, rhs) }

  @inline(__always)
  func fill(
    _ output: UnsafeMutablePointer<UInt8>, count: Int, lhs: UnsafePointer<UInt8>, lhsStep: Int,
    rhs: UnsafePointer<UInt8>, rhsStep: Int
  ) {
    typealias Function = @convention(c) (UnsafeRawPointer) -> Void
    var done = 0
    if count >= 16, lhsStep == steps.lhs, rhsStep == steps.rhs {
      let arguments = unsafe X86SumGenerator.Arguments(
        lhs: Int(bitPattern: lhs), rhs: Int(bitPattern: rhs), output: Int(bitPattern: output),
        blocks: count / 16,
        factors: Int(bitPattern: factors.address))
      unsafe withUnsafePointer(to: arguments) { arguments in
        unsafe unsafeBitCast(function, to: Function.self)(UnsafeRawPointer(arguments))
      }
      done = count / 16 &* 16
    }
    if done < count {
      unsafe rest.fill(
        output + done, count: count &- done, lhs: lhs + done &* lhsStep, lhsStep: lhsStep,
        rhs: rhs + done &* rhsStep, rhsStep: rhsStep)
    }
  }
}

extension X86Target {
  /// The generated kernel of a sum of bytes; nil where there is none.
  func kernel(_ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes) -> (any BinaryKernel)? {
    guard sum.leftShift == 20 else { return nil }
    return X86Sum(
      sum.isDifference ? .difference : .sum, target: self, isSigned: isSigned, lhs: sum.lhs, rhs: sum.rhs,
      output: sum.output, shapes, rest: ByteSum(sum, isSigned: isSigned)
    ).map { BroadcastBinary($0, shapes) }
  }

  /// The generated kernel of a product of bytes; nil where there is none.
  func kernel(_ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes) -> (any BinaryKernel)? {
    let one = FixedPointMultiplier(0.5)
    return X86Sum(
      .product, target: self, isSigned: isSigned,
      lhs: QuantizedOperand(zeroPoint: product.lhsZeroPoint, multiplier: one),
      rhs: QuantizedOperand(zeroPoint: product.rhsZeroPoint, multiplier: one), output: product.output, shapes,
      rest: ByteProduct(product, isSigned: isSigned)
    ).map { BroadcastBinary($0, shapes) }
  }
}
