// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusCodeGeneration
import ApusKernels
import ApusPixels
import ApusTesting
import ApusVision

/// The results of a kernel set for the built-in cases, compared with those of LiteRT's reference kernels.
package struct KernelSetProof: Codable, Sendable {
  /// A case that came out wrong.
  package struct Failure: Codable, Sendable {
    /// The case's name.
    package let name: String
    /// The number of threads that ran it.
    package let threads: Int
    /// The error, or the value that was found and the one that was expected.
    package let reason: String
  }

  /// The number of cases.
  package let caseCount: Int
  /// The numbers of threads that each case was run with.
  package let threadCounts: [Int]
  /// The cases that came out wrong, each with the first number of threads for which it did.
  package let failures: [Failure]

  /// The numbers of threads to prove with on a machine with a number of processors.
  package static func threadCounts(processors: Int) -> [Int] {
    Array(Set([1, 2, 3, min(max(processors, 1), 8)])).sorted()
  }

  /// Runs cases with a kernel set. Integers must be equal to the bit, floats within 10⁻⁴ of the largest magnitude, and
  /// outputs must have equal bytes for all numbers of threads. Also compares the set with plain Swift.
  package init(of set: KernelSet, on cases: [GoldenCase], threadCounts: [Int]) {
    caseCount = cases.count
    self.threadCounts = threadCounts
    let differences = [
      KernelProofs.difference(of: set).map { Failure(name: "beside plain Swift", threads: 1, reason: $0) },
      PictureTrial.difference(of: set).map {
        Failure(name: "pictures beside plain Swift", threads: 1, reason: $0)
      },
    ]
    failures =
      cases.compactMap { Self.failure(of: $0, with: set, threadCounts) } + differences.compactMap(\.self)
  }

  private static func failure(
    of golden: GoldenCase, with set: KernelSet, _ threadCounts: [Int]
  ) -> Failure? {
    var first: [[UInt8]]?
    for threads in threadCounts {
      do throws(ApusError) {
        var options = Interpreter.Options()
        options.kernelSet = set
        options.threadCount = threads
        let interpreter = try Interpreter(model: Model(bytes: golden.model), options: options)
        let outputs = try run(golden, interpreter)
        for (position, expected) in golden.outputs.enumerated() {
          try compare(outputs[position], with: expected, output: position)
        }
        if let first, first != outputs {
          throw ApusError(
            .invalidData, "the bytes of the outputs are others than with \(threadCounts[0]) threads")
        }
        first = outputs
      } catch {
        return Failure(name: golden.name, threads: threads, reason: error.message)
      }
    }
    return nil
  }

  /// The bytes of the outputs.
  private static func run(
    _ golden: GoldenCase, _ interpreter: Interpreter
  ) throws(ApusError) -> [[UInt8]] {
    let inputs = interpreter.inputs
    guard inputs.count == golden.inputs.count, interpreter.outputs.count == golden.outputs.count else {
      throw ApusError(
        .invalidData, "the model has \(inputs.count) inputs and \(interpreter.outputs.count) outputs")
    }
    var shapes: [Int: TensorShape] = [:]
    for (position, array) in golden.inputs.enumerated() where inputs[position].shape.dimensions != array.shape
    {
      shapes[position] = TensorShape(array.shape)
    }
    if !shapes.isEmpty { try interpreter.resizeInputs(shapes) }
    for (position, array) in golden.inputs.enumerated() {
      try interpreter.withInputBytes(at: position) { bytes throws(ApusError) in
        guard bytes.byteCount == array.bytes.count else {
          throw ApusError(
            .invalidData, "input \(position) has \(bytes.byteCount) bytes, not \(array.bytes.count)")
        }
        for (index, byte) in array.bytes.enumerated() {
          bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
      }
    }
    try interpreter.invoke()
    var outputs: [[UInt8]] = []
    for (position, expected) in golden.outputs.enumerated() {
      let shape = interpreter.outputs[position].shape
      guard shape.dimensions == expected.shape else {
        throw ApusError(.invalidData, "output \(position) is \(shape), not \(TensorShape(expected.shape))")
      }
      outputs.append(
        try interpreter.withOutputBytes(at: position) { span throws(ApusError) in
          unsafe span.withUnsafeBytes { unsafe Array($0) }
        })
    }
    return outputs
  }

  private static let tolerance = 1e-4

  private static func compare(
    _ bytes: [UInt8], with expected: NumPyArray, output position: Int
  ) throws(ApusError) {
    guard bytes != expected.bytes else { return }
    guard bytes.count == expected.bytes.count else {
      throw ApusError(
        .invalidData, "output \(position) has \(bytes.count) bytes, not \(expected.bytes.count)")
    }
    let found = try NumPyArray(type: expected.type, shape: expected.shape, bytes: bytes).numbers()
    let wanted = try expected.numbers()
    let isExact = !expected.typeName.hasPrefix("float")
    let magnitude = wanted.reduce(0) { $1.isFinite ? max($0, abs($1)) : $0 }
    for (index, (number, right)) in zip(found, wanted).enumerated() {
      let isSame =
        number == right || number.isNaN && right.isNaN
        || !isExact && abs(number - right) <= tolerance * magnitude
      guard isSame else {
        throw ApusError(
          .invalidData,
          "element \(index) of output \(position), \(TensorShape(expected.shape)), is \(number), not \(right)"
        )
      }
    }
  }
}
