// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Testing

/// The plan names the kernel set whose code runs, whatever is around the kernel.
@Suite struct PlanReportTests {
  /// An operator on one or two tensors of a type.
  struct Case: CustomStringConvertible {
    let code: OperatorCode
    let operandCount: Int
    let input: TensorType
    let output: TensorType

    var description: String { "\(code), type \(input)" }
  }

  private static let cases: [Case] =
    [(.cast, .float32, .int32), (.quantize, .int8, .uint8)].map {
      Case(code: $0, operandCount: 1, input: $1, output: $2)
    }
    + [.sqrt, .rsqrt, .relu].map {
      Case(code: $0, operandCount: 1, input: .int8, output: .int8)
    }
    + [.maximum, .minimum, .stablehloAdd, .stablehloMultiply, .stablehloMaximum, .stablehloMinimum].map {
      Case(code: $0, operandCount: 2, input: .float32, output: .float32)
    }
    + [Case(code: .add, operandCount: 2, input: .float16, output: .float16)]

  private func implementation(of test: Case, kernels: KernelSetName) throws -> ExecutionPlan.Implementation {
    var graph = TestGraph()
    let operands = (0..<test.operandCount).map {
      graph.input("x\($0)", [40, 64], type: test.input, scale: 0.05)
    }
    let y = graph.add(test.code, inputs: operands, as: .init(type: test.output, scale: 0.125))
    let model = try graph.model(outputs: [y]).model()
    var options = Interpreter.Options()
    options.kernels = kernels
    let steps = try Interpreter(model: model, options: options).plan.steps
    return try #require(steps.first).implementation
  }

  #if arch(x86_64)
    private static let sets = Runtime.kernelSets.filter(\.isSupported).map(\.name).filter {
      $0.rawValue.hasPrefix("x86")
    }

    @Test("generated code is reported as its set's", arguments: cases, sets)
    func namesTheSet(test: Case, set: KernelSetName) throws {
      let implementation = try implementation(of: test, kernels: set)
      #expect(implementation.kernelSet == set, "\(implementation)")
      #expect(implementation.declined.isEmpty)
    }
  #endif

  @Test("plain Swift is reported as such", arguments: cases)
  func namesPlainSwift(test: Case) throws {
    #expect(try implementation(of: test, kernels: "portable").kernelSet == "portable")
  }
}
