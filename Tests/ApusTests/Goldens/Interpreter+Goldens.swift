// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

extension Interpreter {
  /// Gives the inputs the shapes and the elements of arrays.
  func fill(_ arrays: [NumPyFile]) throws {
    var shapes: [Int: TensorShape] = [:]
    for (position, array) in arrays.enumerated() where inputs[position].shape.dimensions != array.shape {
      shapes[position] = TensorShape(array.shape)
    }
    if !shapes.isEmpty { try resizeInputs(shapes) }
    for (position, array) in arrays.enumerated() {
      try withInputBytes(at: position) { (bytes: inout MutableRawSpan) throws(ApusError) in
        guard bytes.byteCount == array.bytes.count else {
          throw ApusError(
            .invalidArgument, "input \(position) has \(bytes.byteCount) bytes, not \(array.bytes.count)")
        }
        for (index, byte) in array.bytes.enumerated() {
          bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
      }
    }
  }

  /// Throws where an output is not the array: integers to the bit, floats within `tolerance` of the largest magnitude.
  func compare(output position: Int, with expected: NumPyFile, tolerance: Double) throws {
    let tensor = outputs[position]
    guard tensor.shape.dimensions == expected.shape else {
      throw GoldenFailure("output \(position) is \(tensor.shape), not \(TensorShape(expected.shape))")
    }
    let bytes = try withOutputBytes(at: position) { span in span.withUnsafeBytes { Array($0) } }
    guard bytes.count == expected.bytes.count else {
      throw GoldenFailure("output \(position) has \(bytes.count) bytes, not \(expected.bytes.count)")
    }
    let found = NumPyFile(type: expected.type, shape: expected.shape, bytes: bytes)
    guard let wanted = expected.floats, let values = found.floats else {
      let width = expected.elementByteCount
      if let index = zip(bytes, expected.bytes).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        let first = index / width * width
        throw GoldenFailure(
          "output \(position) has \(bytes[first..<first + width]), not \(expected.bytes[first..<first + width]), "
            + "at \(index / width) of \(bytes.count / width) (\(expected.type))")
      }
      return
    }
    let magnitude = wanted.filter(\.isFinite).map(abs).max() ?? 0
    for index in wanted.indices {
      let (value, want) = (values[index], wanted[index])
      let isEqual = value == want || value.isNaN && want.isNaN || abs(value - want) <= tolerance * magnitude
      guard isEqual else { throw GoldenFailure("output \(position) has \(value), not \(want), at \(index)") }
    }
  }
}
