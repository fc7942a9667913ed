// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The elementwise part of one step of a float recurrent layer, after the matrix products: two sums and an
/// activation.
package struct RecurrentSums: Sendable {
  private let sum: PostOperations
  private let function: RecurrentFunction

  /// Finds the code for an activation.
  package init(_ activation: RecurrentActivation, using set: KernelSet) {
    sum = PostOperations(addingWithin: -.infinity, .infinity, using: set)
    function = RecurrentFunction(activation, using: set)
  }

  /// Replaces a row of the state's contributions by the layer's output, given the input's contributions, unless the
  /// run has to end.
  package func run(_ values: inout MutableSpan<Float>, adding inputs: Span<Float>, threads: ThreadTeam) {
    let count = values.count
    precondition(inputs.count == count)
    unsafe values.withUnsafeMutableBufferPointer { values in
      unsafe inputs.withUnsafeBufferPointer { inputs in
        guard let values = values.baseAddress, let inputs = inputs.baseAddress else { return }
        unsafe sum.apply(to: values, other: inputs, first: 0, count: count)
        unsafe function.apply(to: values, count: count, threads: threads)
      }
    }
  }
}
