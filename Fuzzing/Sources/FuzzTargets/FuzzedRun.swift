// SPDX-License-Identifier: Apache-2.0

import Apus

/// A run of a model on data that are the same for each, within limits that keep executions short.
struct FuzzedRun {
  let interpreter: Interpreter

  init(_ model: Model, kernels: String?) throws(ApusError) {
    var options = Interpreter.Options()
    options.kernels = kernels
    options.memoryLimit = 16 << 20
    options.workLimit = 1 << 32
    options.runWorkLimit = 1 << 24
    options.loopLimit = 64
    options.timeLimit = .seconds(2)
    interpreter = try Interpreter(model: model, options: options)
  }

  /// One output as it is in memory.
  struct Output {
    let type: ElementType
    let shape: TensorShape
    let bytes: [UInt8]
  }

  /// Fills the inputs, runs twice and copies the outputs of the second run.
  func outputs() throws(ApusError) -> [Output] {
    try fill()
    try interpreter.invoke()
    try fill()
    try interpreter.invoke()
    var outputs: [Output] = []
    for (position, tensor) in interpreter.outputs.enumerated() {
      let bytes = try interpreter.withOutputBytes(at: position) { span in
        span.withUnsafeBytes { Array($0) }
      }
      outputs.append(Output(type: tensor.type, shape: tensor.shape, bytes: bytes))
    }
    return outputs
  }

  private func fill() throws(ApusError) {
    for (position, tensor) in interpreter.inputs.enumerated() {
      var random = FuzzRandom(seed: UInt64(position))
      try interpreter.withInputBytes(at: position) { span in
        if tensor.type == .float32 {
          for offset in stride(from: 0, to: span.byteCount - 3, by: 4) {
            span.storeBytes(
              of: Float(Int32(truncatingIfNeeded: random.next()) >> 8) / 1e6, toByteOffset: offset,
              as: Float.self)
          }
        } else if tensor.type == .int32 || tensor.type == .int64 {
          // Small numbers: indices that are mostly there.
          let width = tensor.type == .int32 ? 4 : 8
          for offset in stride(from: 0, to: span.byteCount - width + 1, by: width) {
            span.storeBytes(of: UInt8(random.next() & 3), toByteOffset: offset, as: UInt8.self)
          }
        } else {
          for offset in 0..<span.byteCount {
            let byte = UInt8(truncatingIfNeeded: random.next())
            span.storeBytes(of: tensor.type == .bool ? byte & 1 : byte, toByteOffset: offset, as: UInt8.self)
          }
        }
      }
    }
  }
}
