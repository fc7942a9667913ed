// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Functions of floats that kernels compute eight at a time, against those of the system's library in double precision.
@Suite struct FloatFunctionTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let function: FloatFunction
    let expected: @Sendable (Double) -> Double
    /// Units in the last place.
    let tolerance: Double
    /// Whether those are of the argument, not of the result.
    var isOfArgument = false
    var testDescription: String { "\(function)" }
  }

  /// None, and each that is tested.
  static let sets: [KernelSet] = [.portable] + KernelSet.tested

  static let cases: [Case] = [
    Case(function: .exp, expected: { exp($0) }, tolerance: 2),
    Case(function: .log, expected: { log($0) }, tolerance: 2),
    Case(function: .tanh, expected: { tanh($0) }, tolerance: 3),
    Case(function: .logistic, expected: { logistic($0) }, tolerance: 3),
    // The logistic function is rounded before the product, and MUL clamps.
    Case(
      function: .swish,
      expected: { min($0 * Double(Float(logistic($0))), Double(Float.greatestFiniteMagnitude)) },
      tolerance: 4),
    Case(function: .sin, expected: { sin($0) }, tolerance: 2),
    Case(function: .cos, expected: { cos($0) }, tolerance: 2),
    Case(
      function: .hardSwish,
      expected: {
        let product = $0 * min(6, max(0, $0 + 3))
        return abs(product) > Double(Float.greatestFiniteMagnitude) ? product * .infinity : product / 6
      }, tolerance: 2.5),
    Case(function: .elu, expected: { $0 < 0 ? expm1($0) : $0 }, tolerance: 3),
    Case(
      function: .gelu(isApproximate: false), expected: { $0 * 0.5 * erfc(-$0 / 2.0.squareRoot()) },
      tolerance: 80),
    Case(
      function: .gelu(isApproximate: true),
      expected: { $0 * 0.5 * (1 + tanh((2 / Double.pi).squareRoot() * ($0 + 0.044715 * $0 * $0 * $0))) },
      tolerance: 3, isOfArgument: true),
    Case(function: .sign, expected: { $0 > 0 ? 1 : $0 < 0 ? -1 : $0 }, tolerance: 0),
    Case(function: .floor, expected: { $0.rounded(.down) }, tolerance: 0),
    Case(function: .ceil, expected: { $0.rounded(.up) }, tolerance: 0),
    // Only zero keeps its sign: LiteRT adds 1 to the floor of what it rounds up.
    Case(
      function: .round, expected: { $0 == 0 ? $0 : $0.rounded(.toNearestOrEven) + 0 }, tolerance: 0),
    Case(function: .squareRoot, expected: { $0.squareRoot() }, tolerance: 0.5),
    Case(function: .inverseSquareRoot, expected: { 1 / $0.squareRoot() }, tolerance: 1.5),
    Case(function: .absolute, expected: { abs($0) }, tolerance: 0),
    Case(function: .negate, expected: { -$0 }, tolerance: 0),
    Case(function: .square, expected: { $0 * $0 }, tolerance: 0.5),
    Case(function: .leakyRelu(alpha: 0.25), expected: { $0 > 0 ? $0 : $0 * 0.25 }, tolerance: 0.5),
    Case(function: .leakyRelu(alpha: -0.25), expected: { $0 > 0 ? $0 : $0 * -0.25 }, tolerance: 0.5),
    Case(function: .clamp(minimum: -1, maximum: 6), expected: { min(max($0, -1), 6) }, tolerance: 0),
  ]

  /// As LiteRT's reference defines it, which takes `eˣ` for it below −9.
  static func logistic(_ x: Double) -> Double { x < -9 ? exp(x) : 1 / (1 + exp(-x)) }

  @Test("every function is tested: against double precision, or as plain Swift where it is rounded otherwise")
  func coversAllFunctions() {
    let kinds = Set(Self.cases.map(\.function.kind)).union([.halfGelu, .fakeQuantize])
    #expect(kinds == Set(FloatFunction.Kind.allCases))
    #expect(Set(FloatFunction.samples.map(\.kind)) == kinds)
  }

  @Test(
    "results are within a few units in the last place, to the last subnormal number", arguments: cases, sets)
  func isPrecise(_ test: Case, _ set: KernelSet) {
    // Some two hundred numbers of each exponent and either sign, the ends of the range, what lies around integers and around
    // multiples of a quarter turn.
    var values: [Float] = []
    for bits in stride(from: UInt32(0), to: 0x7F80_0000, by: 40_009) {
      values += [Float(bitPattern: bits), -Float(bitPattern: bits)]
    }
    for exponent in UInt32(0)..<255 {
      for mantissa in [UInt32(0), 1, 0x40_0000, 0x7F_FFFF] {
        let value = Float(bitPattern: exponent << 23 | mantissa)
        values += [value, -value]
      }
    }
    for step in -4000...4000 {
      let value = Float(step) / 32
      values += [value, value.nextUp, value.nextDown, Float(Double(step) * .pi / 2)]
    }
    var (worst, place) = (0.0, Float(0))
    for (value, result) in zip(values, Self.results(test.function, values, set)) {
      var error = Self.error(of: result, at: value, test)
      // One unit of a subnormal logistic function is as many units of the product as its argument is large.
      if case .swish = test.function, value < -87 { error -= Double(-value) }
      if error > worst { (worst, place) = (error, value) }
    }
    #expect(worst <= test.tolerance + 0.01, "\(worst) at \(place)")
  }

  /// The error in units in the last place, which below the least normal number are those of subnormal ones.
  private static func error(of result: Float, at value: Float, _ test: Case) -> Double {
    let exact = test.expected(Double(value))
    if exact.isNaN || result.isNaN { return exact.isNaN && result.isNaN ? 0 : .infinity }
    // A zero has the right sign, but for SIGN, which has one zero.
    if exact == 0, result == 0, test.function != .sign, exact.sign != result.sign { return .infinity }
    if Float(exact) == result { return 0 }
    // Values that round to infinity exceed the greatest number by no more than other errors are.
    func bounded(_ number: Double) -> Double { min(max(number, -0x1p128), 0x1p128) }
    let rounded = min(Float(exact).magnitude, .greatestFiniteMagnitude)
    return abs(bounded(Double(result)) - bounded(exact))
      / Double((test.isOfArgument ? max(value.magnitude, rounded) : rounded).ulp)
  }

  @Test("sines and cosines are right to the last places of numbers around one", arguments: sets)
  func sines(_ set: KernelSet) {
    let values = (-200_000...200_000).map { Float($0) * 0.0423 } + [1e6, -3e9, 1e30]
    for (function, expected) in [(FloatFunction.sin, sin as (Double) -> Double), (.cos, cos)] {
      for (value, result) in zip(values, Self.results(function, values, set)) {
        if abs(Double(result) - expected(Double(value))) > 2e-7 {
          Issue.record("\(function) of \(value) is \(result)")
        }
      }
    }
    #expect(
      Self.results(.sin, [0, .nan, .infinity], set)[0] == 0
        && Self.results(.sin, [-0.0], set)[0].sign == .minus
        && Self.results(.cos, [0, -0.0], set) == [1, 1])
    #expect(Self.results(.cos, [.nan, .infinity, -.infinity], set).allSatisfy { $0.isNaN })
  }

  @Test("results may lie where arguments were", arguments: sets)
  func worksInPlace(_ set: KernelSet) {
    for function in FloatFunction.samples {
      var values = (0..<1_001).map { Float($0) * 0.37 }
      // Some are so great that they go another way.
      for place in [5, 300, 999] { values[place] = 3e6 }
      let expected = Self.results(function, values, set)
      values.withUnsafeMutableBytes { memory in
        let input = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory))
        var output = unsafe MutableRawSpan(_unsafeBytes: memory)
        function.kernel(count: 1_001, using: set).run(input, to: &output, threads: ThreadTeam(count: 1))
      }
      #expect(values.map(\.bitPattern) == expected.map(\.bitPattern), "\(function)")
    }
  }

  @Test("NaN stays NaN, infinities have limits, zeros their sign", arguments: sets)
  func specialValues(_ set: KernelSet) {
    let values: [Float] = [.nan, .infinity, -.infinity, 0, -0.0]
    func bits(_ function: FloatFunction) -> [UInt32] {
      Self.results(function, values, set).map { $0.isNaN ? 0x7FC0_0000 : $0.bitPattern }
    }
    func expected(_ floats: Float...) -> [UInt32] { floats.map { $0.isNaN ? 0x7FC0_0000 : $0.bitPattern } }
    #expect(bits(.exp) == expected(.nan, .infinity, 0, 1, 1))
    #expect(bits(.log) == expected(.nan, .infinity, .nan, -.infinity, -.infinity))
    #expect(bits(.tanh) == expected(.nan, 1, -1, 0, -0.0))
    #expect(bits(.logistic) == expected(.nan, 1, 0, 0.5, 0.5))
    #expect(bits(.swish) == expected(.nan, .greatestFiniteMagnitude, .nan, 0, -0.0))
    #expect(bits(.floor) == expected(.nan, .infinity, -.infinity, 0, -0.0))
    #expect(bits(.ceil) == expected(.nan, .infinity, -.infinity, 0, -0.0))
    #expect(bits(.round) == expected(.nan, .infinity, -.infinity, 0, -0.0))
    #expect(bits(.elu) == expected(.nan, .infinity, -1, 0, -0.0))
    #expect(bits(.clamp(minimum: 0, maximum: 6)) == expected(.nan, 6, 0, 0, -0.0))
    #expect(Self.results(.ceil, [-0.25], set)[0].sign == .minus)
    #expect(Self.results(.logistic, [-.nan], set)[0].isNaN && Self.results(.logistic, [-343], set) == [0])
    for function in [FloatFunction.gelu(isApproximate: true), .gelu(isApproximate: false)] {
      #expect(bits(function).prefix(2) == expected(.nan, .infinity)[...])
      #expect(Self.results(function, [-13, -38.9, -1e30], set).allSatisfy { $0.magnitude < 0x1p-118 })
    }
  }

  @Test("a result does not depend on its place", arguments: [1, 7, 8, 9, 63, 64, 65, 2_113], sets)
  func placesAreAlike(count: Int, _ set: KernelSet) {
    for function in FloatFunction.samples {
      let values = (0..<count).map { Float($0) * 0.37 - 4 }
      let apart = values.flatMap { Self.results(function, [$0], set) }
      let together = Self.results(function, values, set)
      #expect(zip(together, apart).allSatisfy { $0.bitPattern == $1.bitPattern || $0.isNaN && $1.isNaN })
    }
  }

  private static func results(
    _ function: FloatFunction, _ values: [Float], _ set: KernelSet = .portable
  ) -> [Float] {
    var output = [Float](repeating: -77, count: values.count)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    function.kernel(count: values.count, using: set)
      .run(values.span.bytes, to: &bytes, threads: ThreadTeam(count: 2))
    return output
  }
}
