// SPDX-License-Identifier: Apache-2.0

/// What follows the products of one step of a recurrent layer on floats: two sums and an activation.
package struct RecurrentSums: Sendable {
  private let sum: PostOperations
  private let function: RecurrentFunction

  /// Finds the code for an activation.
  package init(_ activation: RecurrentActivation, using set: KernelSet) {
    sum = PostOperations(addingWithin: -.infinity, .infinity, using: set)
    function = RecurrentFunction(activation, using: set)
  }

  /// Replaces what a row of the state contributes by the layer's output, given what the input contributes.
  package func run(_ values: inout MutableSpan<Float>, adding inputs: Span<Float>) {
    let count = values.count
    precondition(inputs.count == count)
    unsafe values.withUnsafeMutableBufferPointer { values in
      unsafe inputs.withUnsafeBufferPointer { inputs in
        guard let values = values.baseAddress, let inputs = inputs.baseAddress else { return }
        unsafe sum.apply(to: values, other: inputs, first: 0, count: count)
        unsafe function.apply(to: values, count: count)
      }
    }
  }
}
