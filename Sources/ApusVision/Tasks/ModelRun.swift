// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// The outputs of a run for one picture, as real numbers.
struct ModelRun {
  private let interpreter: Interpreter
  /// The outputs after the run, in the model's order.
  let outputs: [Tensor]
  /// Which picture of how many.
  private let slot: Int
  private let count: Int
  /// When answers must be there; nil where there is no limit.
  private let deadline: Moment?

  /// The outputs of an interpreter's last run, for one picture of its batch.
  init(
    _ interpreter: Interpreter, slot: Int = 0, of count: Int = 1,
    until deadline: Moment? = nil
  ) {
    self.interpreter = interpreter
    outputs = interpreter.outputs
    self.deadline = deadline
    self.slot = slot
    self.count = count
  }

  /// Throws once the answer is late: for long work on outputs.
  func checkTime() throws(ApusError) {
    guard let deadline, Moment.now >= deadline else { return }
    throw ApusError(.resourceLimit, "what follows the run takes longer than the limit of time")
  }

  /// Lends an output's numbers to `body`; floats are not copied.
  func withValues<R>(
    of output: Int, _ body: (Span<Float>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    if outputs[output].type == .float32 {
      return try interpreter.withOutput(at: output, as: Float.self) { span throws(ApusError) in
        try body(span.extracting(part(of: span.count)))
      }
    }
    let values = try numbers(of: output)
    return try body(values.span.extracting(part(of: values.count)))
  }

  /// An output's numbers.
  func values(of output: Int) throws(ApusError) -> [Float] {
    let values = try numbers(of: output)
    return count == 1 ? values : Array(values[part(of: values.count)])
  }

  /// An output's numbers for all pictures.
  private func numbers(of output: Int) throws(ApusError) -> [Float] {
    let tensor = outputs[output]
    // No overflow: what an operator computes is limited.
    try requireMemory(
      12 * tensor.shape.elementCount, for: "the numbers of output \(output) (\(tensor.name))")
    return try interpreter.dequantizedOutput(at: output)
  }

  /// The input's numbers, which a run leaves as they are.
  ///
  /// - Throws: `invalidArgument` for an input that is neither of floats nor of bytes with a scale.
  func inputNumbers() throws(ApusError) -> [Float] {
    let tensor = interpreter.inputs[0]
    try requireMemory(4 * tensor.shape.elementCount, for: "the numbers of the input \(tensor.name)")
    let scale = tensor.quantization?.scale ?? 1
    let zero = Float(tensor.quantization?.zeroPoint ?? 0)
    func copy<Element: TensorElement>(_ type: Element.Type, _ real: (Element) -> Float) throws(ApusError)
      -> [Float]
    {
      try interpreter.withInput(at: 0, as: type) { span throws(ApusError) in
        (0..<span.count).map { real(span[$0]) }
      }
    }
    switch tensor.type {
    case .float32: return try copy(Float.self) { $0 }
    case .int8: return try copy(Int8.self) { scale * (Float($0) - zero) }
    case .uint8: return try copy(UInt8.self) { scale * (Float($0) - zero) }
    default:
      throw ApusError(.invalidArgument, "the input is \(tensor), neither float32 nor 8-bit integers")
    }
  }

  private func part(of total: Int) -> Range<Int> {
    let length = total / count
    return slot * length..<(slot + 1) * length
  }
}
