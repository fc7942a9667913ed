// SPDX-License-Identifier: Apache-2.0
import Apus
import TestSupport
import Testing

/// Products in bfloat16 are asked for, stated in the plan, and the same everywhere.
@Suite struct PrecisionTests {
  private static func floats(_ count: Int, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in .random(in: -1...1, using: &random) }
  }

  /// A convolution of three channels to eight, one of eight to eight, and a matrix.
  private static func model() throws -> Model {
    var graph = TestGraph()
    let x = graph.input("x", [1, 9, 9, 3])
    let first = graph.constant("first", [8, 3, 3, 3], floats: floats(8 * 27, seed: 1))
    let bias = graph.constant("b", [8], floats: floats(8, seed: 2))
    let second = graph.constant("second", [8, 3, 3, 8], floats: floats(8 * 72, seed: 3))
    let last = graph.constant("last", [10, 648], floats: floats(6_480, seed: 4))
    let a = graph.conv2D(x, filter: first, bias: bias)
    let y = graph.fullyConnected(graph.conv2D(a, filter: second, bias: bias), weights: last)
    return try graph.model(outputs: [y]).model()
  }

  private static func interpreter(
    _ precision: Interpreter.Precision?, kernels: KernelSetName? = nil, threads: Int = 1
  ) throws -> Interpreter {
    var options = Interpreter.Options()
    if let precision { options.precision = precision }
    options.kernels = kernels
    options.threadCount = threads
    return try Interpreter(model: model(), options: options)
  }

  private static func answer(_ interpreter: Interpreter) throws -> [Float] {
    try interpreter.copy(floats(243, seed: 5), toInputAt: 0)
    try interpreter.invoke()
    return try interpreter.output(at: 0)
  }

  @Test("products are float32 unless bfloat16 is asked for")
  func isNeverTheDefault() throws {
    #expect(Interpreter.Options().precision == .float32)
    let plain = try Self.interpreter(nil)
    #expect(try Self.answer(plain) == Self.answer(Self.interpreter(.float32)))
    #expect(plain.plan.steps.allSatisfy { !$0.implementation.text.contains("bfloat16") })
  }

  @Test("bfloat16 is near float32 but not equal, and the same for every thread count")
  func isNear() throws {
    let exact = try Self.answer(Self.interpreter(.float32))
    let rounded = try Self.answer(Self.interpreter(.bfloat16))
    let largest = exact.map(abs).max() ?? 0
    #expect(rounded != exact)
    // Each operand is within 2⁻⁹ of itself; sums of hundreds of terms of either sign lose less than that of the largest.
    #expect(zip(exact, rounded).allSatisfy { abs($0 - $1) < 0.02 * largest })
    #expect(try Self.answer(Self.interpreter(.bfloat16, threads: 3)) == rounded)
  }

  @Test("two interpreters of one model each have their precision, whichever comes first")
  func interpretersDoNotMix() throws {
    let model = try Self.model()
    func interpreter(_ precision: Interpreter.Precision) throws -> Interpreter {
      var options = Interpreter.Options()
      options.precision = precision
      return try Interpreter(model: model, options: options)
    }
    let (rounded, exact) = (try interpreter(.bfloat16), try interpreter(.float32))
    let again = try interpreter(.bfloat16)
    #expect(try Self.answer(exact) == Self.answer(Self.interpreter(.float32)))
    #expect(try Self.answer(rounded) == Self.answer(Self.interpreter(.bfloat16)))
    #expect(try Self.answer(again) == Self.answer(rounded))
  }

  @Test("the plan says which products are in bfloat16, and why others are not")
  func planSaysSo() throws {
    let steps = try Self.interpreter(.bfloat16).plan.steps
    let products = steps.filter { $0.name.hasPrefix("CONV_2D") || $0.name.hasPrefix("FULLY_CONNECTED") }
    #expect(products.count == 3)
    #expect(products[0].implementation.notes.contains("in float32: 3 channels of a group have no pairs"))
    #expect(!products[0].implementation.text.contains("bfloat16"))
    #expect(products.dropFirst().allSatisfy { $0.implementation.text.contains("bfloat16") })
  }

  @Test("products of bfloat16 are the same with every kernel set that computes the others alike")
  func setsAgree() throws {
    // The first convolution is in float32, whose sums sets add in their own order; so only what follows is compared, closely.
    let rounded = try Self.answer(Self.interpreter(.bfloat16))
    let largest = rounded.map(abs).max() ?? 0
    for kernels in Runtime.kernelSets where kernels.isSupported {
      let other = try Self.answer(Self.interpreter(.bfloat16, kernels: kernels.name))
      #expect(zip(rounded, other).allSatisfy { abs($0 - $1) < 0.01 * largest }, "\(kernels.name)")
    }
  }
}
