// SPDX-License-Identifier: Apache-2.0

import Apus

/// A run of a model on data that are the same for each, within limits that keep executions short.
struct FuzzedRun {
  let interpreter: Interpreter

  init(_ model: Model, kernels: KernelSetName?) throws(ApusError) {
    var options = Interpreter.Options()
    options.kernels = kernels
    // Instrumented code is some hundred times slower, and a run is repeated for each kernel set.
    options.memoryLimit = 4 << 20
    options.elementLimit = 1 << 18
    options.workLimit = 1 << 24
    options.runWorkLimit = 1 << 21
    options.loopLimit = 16
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
        // Eight bytes at a time, as stores are checked and instrumented.
        var offset = 0
        while offset < span.byteCount {
          let word = Self.word(of: tensor.type, random.next())
          if offset <= span.byteCount - 8 {
            span.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
          } else {
            for index in offset..<span.byteCount {
              let byte = UInt8(truncatingIfNeeded: word >> UInt64(8 * (index - offset)))
              span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            }
          }
          offset += 8
        }
      }
    }
  }

  /// Eight bytes of values that operators can use: floats up to eight, and indices that mostly exist.
  private static func word(of type: ElementType, _ random: UInt64) -> UInt64 {
    switch type {
    case .float32:
      func float(_ bits: UInt64) -> UInt64 {
        UInt64((Float(Int32(truncatingIfNeeded: bits) >> 8) / 1e6).bitPattern)
      }
      return float(random) | float(random >> 32) << 32
    case .int32: return random & 0x3_0000_0003
    case .int64: return random & 3
    case .bool: return random & 0x0101_0101_0101_0101
    default: return random
    }
  }
}
