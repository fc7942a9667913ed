// SPDX-License-Identifier: Apache-2.0

/// Kernels of several operators, done one after the other to parts of their tensors.
package protocol ChainKernel: Sendable {
  /// The bytes that a run works in.
  func scratchByteCount(threads: Int) -> Int

  /// Whether the result may lie where a tensor does.
  func mayOverwrite(_ tensor: Int) -> Bool

  /// What does the work, for people to read.
  var implementation: String { get }

  /// Computes the result.
  func run(
    _ inputs: ChainInputs, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  )
}

/// Where the tensors of a chain's run lie.
package struct ChainInputs {
  /// The most tensors that a chain may read.
  package static let mostTensors = 8

  var addresses = SIMD8<Int>()
  var byteCounts = SIMD8<Int>()
  var count = 0

  /// No tensors yet.
  package init() {}

  /// Adds the next tensor, which must stay where it is until the run is over.
  package mutating func add(_ tensor: borrowing RawSpan) {
    precondition(count < Self.mostTensors)
    addresses[count] = unsafe tensor.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    byteCounts[count] = tensor.byteCount
    count += 1
  }
}
