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
    let input: Int32
    let output: Int32

    var description: String { "\(code), type \(input)" }
  }

  private static let float16: Int32 = 1
  private static let cases: [Case] =
    [(.cast, TestModel.float32, TestModel.int32), (.quantize, TestModel.int8, TestModel.uint8)].map {
      Case(code: $0, operandCount: 1, input: $1, output: $2)
    }
    + [.sqrt, .rsqrt, .relu].map {
      Case(code: $0, operandCount: 1, input: TestModel.int8, output: TestModel.int8)
    }
    + [.maximum, .minimum, .stablehloAdd, .stablehloMultiply, .stablehloMaximum, .stablehloMinimum].map {
      Case(code: $0, operandCount: 2, input: TestModel.float32, output: TestModel.float32)
    }
    + [Case(code: .add, operandCount: 2, input: float16, output: float16)]

  private func implementation(of test: Case, kernels: KernelSetName) throws -> ExecutionPlan.Implementation {
    let shape: [Int32] = [40, 64]
    let inputs = (0..<Int32(test.operandCount)).map { $0 }
    let model = try TestModel(
      tensors: inputs.map { .init(name: "x\($0)", type: test.input, shape: shape, scale: 0.05) }
        + [.init(name: "y", type: test.output, shape: shape, scale: 0.125)],
      operators: [.init(code: test.code, inputs: inputs, outputs: [Int32(inputs.count)])],
      inputs: inputs, outputs: [Int32(inputs.count)]
    ).model()
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
