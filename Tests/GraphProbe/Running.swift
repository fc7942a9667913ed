// SPDX-License-Identifier: Apache-2.0

import Apus

extension Interpreter {
  /// Gives the inputs these values, and these shapes if they have others.
  func fill(_ values: [Case.Values]) throws(ApusError) {
    try resize(to: values)
    for (position, input) in values.enumerated() {
      try withInputBytes(at: position) { (span: inout MutableRawSpan) throws(ApusError) in
        guard span.byteCount == input.bytes.count else {
          throw ApusError(
            .invalidArgument, "input \(position) has \(span.byteCount) bytes, not \(input.bytes.count)")
        }
        unsafe span.withUnsafeMutableBytes { unsafe $0.copyBytes(from: input.bytes) }
      }
    }
  }

  /// Gives the inputs these shapes, all at once, if they have others.
  func resize(to values: [Case.Values]) throws(ApusError) {
    var shapes: [Int: TensorShape] = [:]
    for (position, input) in values.enumerated() where inputs[position].shape != input.shape {
      shapes[position] = input.shape
    }
    if !shapes.isEmpty { try resizeInputs(shapes) }
  }

  /// Runs once with a set of data.
  func outcome(of values: [Case.Values]) -> Outcome {
    do throws(ApusError) {
      try fill(values)
      try invoke()
      return .outputs(try allOutputs())
    } catch {
      return .failed("\(error)")
    }
  }

  private func allOutputs() throws(ApusError) -> [Output] {
    var found: [Output] = []
    for (position, tensor) in outputs.enumerated() {
      let bytes = try withOutputBytes(at: position) { span in unsafe span.withUnsafeBytes { unsafe Array($0) }
      }
      found.append(Output(type: tensor.type, shape: tensor.shape.dimensions, bytes: bytes))
    }
    return found
  }

  /// The values of every tensor that can be read; the others are missing.
  func allTensors() -> [(index: Int, output: Output)] {
    tensors.compactMap { tensor in
      bytes(of: tensor).map {
        (tensor.index, Output(type: tensor.type, shape: tensor.shape.dimensions, bytes: $0))
      }
    }
  }

  private func bytes(of tensor: Tensor) -> [UInt8]? {
    func read<T: TensorElement>(_ type: T.Type) -> [UInt8]? {
      try? withTensor(at: tensor.index, as: type) { (span: Span<T>) in
        unsafe span.withUnsafeBytes { unsafe Array($0) }
      }
    }
    return switch tensor.type {
    case .float32: read(Float.self)
    case .int8: read(Int8.self)
    case .uint8: read(UInt8.self)
    case .int16: read(Int16.self)
    case .int32: read(Int32.self)
    case .int64: read(Int64.self)
    case .bool: read(Bool.self)
    default: nil
    }
  }
}
