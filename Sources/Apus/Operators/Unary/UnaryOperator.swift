// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A prepared kernel of one tensor.
final class UnaryOperator: Operator {
  /// A function of one element that another operator can absorb.
  enum Function {
    case floats(FloatFunction)
    case bytes(ByteTable)
  }

  private let kernel: any UnaryKernel
  private let choice: KernelChoice
  let input: TensorSlot
  let output: TensorSlot
  /// The kernel's elementwise function, if it is known.
  let function: Function?

  /// Connects a kernel with its tensors.
  ///
  /// - Parameters:
  ///   - choice: how the kernel was chosen.
  ///   - function: what the kernel does to each element, if another operator can absorb it.
  init(
    _ kernel: any UnaryKernel, choice: KernelChoice, function: Function? = nil, input: TensorSlot,
    output: TensorSlot
  ) {
    self.kernel = kernel
    self.choice = choice
    self.function = function
    self.input = input
    self.output = output
  }

  /// A function of floats, by a kernel set's own code if there is some.
  convenience init(_ function: FloatFunction, input: TensorSlot, output: TensorSlot, using set: KernelSet) {
    let (kernel, choice) = function.choose(count: input.shape.elementCount, using: set)
    self.init(kernel, choice: choice, function: .floats(function), input: input, output: output)
  }

  /// A function of bytes, by a kernel set's own code if there is some.
  convenience init(_ table: ByteTable, input: TensorSlot, output: TensorSlot, using set: KernelSet) {
    let (kernel, choice) = table.choose(count: input.shape.elementCount, using: set)
    self.init(kernel, choice: choice, function: .bytes(table), input: input, output: output)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    kernel.run(tensors.readBytes(input), to: &result, threads: tensors.threads)
  }

  var implementation: Implementation { Implementation(text: kernel.implementation, choice: choice) }

  var facet: Facet { .unary(self) }

  var elementwise: ChainStep? {
    guard var stage = kernel.stage else { return nil }
    stage.choice = choice
    return ChainStep(stage: stage, operands: [input], output: output)
  }

  var overwritableInputs: [TensorSlot] { kernel.mayOverwrite ? [input] : [] }

  var functionInput: TensorSlot? {
    guard case .floats(let function) = function, function.isCheap else { return nil }
    return input
  }

  func floatFunction(using set: KernelSet) -> FloatFunctionStep? {
    guard case .floats(let function) = function, let tail = PostOperation(function, using: set) else {
      return nil
    }
    return FloatFunctionStep(input: input, output: output, tail: tail)
  }
}

extension Node {
  /// The one input, and an output of its shape and type. The registry says which types it may have.
  func unaryTensors() throws(ApusError) -> (input: TensorSlot, output: TensorSlot) {
    try expect(inputs: 1...1)
    let input = try input(0)
    return (input, try output(0, shape: input.shape, like: input))
  }

  /// A real function of quantized bytes, tabulated like the reference's: in single precision, halves rounded away
  /// from zero.
  func tabulated(
    _ function: (Float) -> Float, input: TensorSlot, output: TensorSlot
  ) throws(ApusError) -> any Operator {
    let source = try quantization(of: input)
    let target = try quantization(of: output)
    let inverse = 1 / target.scale
    let range = output.type.integerRange
    let table = ByteTable(isSigned: input.type == .int8) { value in
      let real = source.scale * Float(value &- source.zeroPoint)
      let steps = (function(real) * inverse).rounded(.toNearestOrAwayFromZero)
      return (steps + Float(target.zeroPoint)).clamped(to: range)
    }
    return UnaryOperator(table, input: input, output: output, using: kernels)
  }
}

extension Float {
  /// The float as an integer in a range of bytes; NaN becomes the minimum.
  fileprivate func clamped(to range: ClosedRange<Int>) -> Int32 {
    guard self >= Float(range.lowerBound) else { return Int32(range.lowerBound) }
    return self < Float(range.upperBound) ? Int32(self) : Int32(range.upperBound)
  }
}
