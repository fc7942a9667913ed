// SPDX-License-Identifier: Apache-2.0

/// The addresses and sizes of the tensors that a chain reads in a run.
package struct ChainInputs {
  /// The maximum number of tensors that a chain may read.
  package static let maximumTensors = 8

  var addresses = SIMD8<Int>()
  var byteCounts = SIMD8<Int>()
  var count = 0

  /// Creates a list without tensors.
  package init() {}

  /// Adds the next tensor, which must stay where it is until the run is over.
  package mutating func add(_ tensor: borrowing RawSpan) {
    precondition(count < Self.maximumTensors)
    addresses[count] = unsafe tensor.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    byteCounts[count] = tensor.byteCount
    count += 1
  }
}
