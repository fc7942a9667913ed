// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The elementwise part of one step of a float LSTM, after the matrix products: gates, new cells, new
/// outputs.
///
/// The sums of a row are in this order: forget gates, output gates, input gates (if there are any), new
/// values.
package struct LSTMCells: Sendable {
  private let count: Int
  private let hasInputGate: Bool
  private let clip: Float
  private let isLinear: Bool
  private let sum: PostOperations
  private let logistic: RecurrentFunction
  private let function: RecurrentFunction

  /// Finds the code for `count` cells; a clip of zero means no clipping.
  ///
  /// - Parameter clampsSums: whether infinite sums become the greatest float.
  package init(
    count: Int, hasInputGate: Bool, activation: RecurrentActivation, clip: Float, clampsSums: Bool,
    using set: KernelSet
  ) {
    self.count = count
    self.hasInputGate = hasInputGate
    self.clip = clip
    isLinear = activation == .none
    let most: Float = clampsSums ? .greatestFiniteMagnitude : .infinity
    sum = PostOperations(addingWithin: -most, most, using: set)
    logistic = RecurrentFunction(.logistic, using: set)
    function = RecurrentFunction(activation, using: set)
  }

  /// The number of sums per row.
  private var sumCount: Int { (hasInputGate ? 4 : 3) * count }

  /// Computes a row of outputs, before any projection, and the cells' new values, unless the run has to end.
  ///
  /// - Parameters:
  ///   - sums: the contributions of the state; overwritten.
  ///   - inputs: the contributions of the inputs and the biases.
  package func run(
    _ sums: inout MutableSpan<Float>, adding inputs: Span<Float>, cells: inout MutableSpan<Float>,
    outputs: inout MutableSpan<Float>, threads: ThreadTeam
  ) {
    precondition(
      sums.count == sumCount && inputs.count == sumCount && cells.count == count && outputs.count == count)
    unsafe sums.withUnsafeMutableBufferPointer { sums in
      unsafe inputs.withUnsafeBufferPointer { inputs in
        unsafe cells.withUnsafeMutableBufferPointer { cells in
          unsafe outputs.withUnsafeMutableBufferPointer { outputs in
            guard let sums = sums.baseAddress, let inputs = inputs.baseAddress,
              let cells = cells.baseAddress,
              let outputs = outputs.baseAddress
            else { return }
            unsafe run(sums, inputs, cells, outputs, threads)
          }
        }
      }
    }
  }

  private func run(
    _ sums: UnsafeMutablePointer<Float>, _ inputs: UnsafePointer<Float>, _ cells: UnsafeMutablePointer<Float>,
    _ outputs: UnsafeMutablePointer<Float>, _ threads: ThreadTeam
  ) {
    unsafe sum.apply(to: sums, other: inputs, first: 0, count: sumCount)
    let values = unsafe sums + (sumCount &- count)
    unsafe logistic.apply(to: sums, count: sumCount &- count, threads: threads)
    unsafe function.apply(to: values, count: count, threads: threads)
    if hasInputGate {
      unsafe update(cells, values) { index in unsafe sums[2 &* count &+ index] }
    } else {
      unsafe update(cells, values) { index in unsafe 1 - sums[index] }
    }
    // Without an activation the reference continues with the new values, not with the cells.
    unsafe outputs.update(from: isLinear ? values : cells, count: count)
    unsafe function.apply(to: outputs, count: count, threads: threads)
    for index in 0..<count { unsafe outputs[index] *= sums[count &+ index] }

    /// Updates the cells: forget gates × cells + `input` × new values.
    @inline(__always)
    func update(
      _ cells: UnsafeMutablePointer<Float>, _ values: UnsafePointer<Float>, input: (Int) -> Float
    ) {
      for index in 0..<count {
        unsafe cells[index] = sums[index] * cells[index] + values[index] * input(index)
      }
      guard clip > 0 else { return }
      for index in 0..<count { unsafe cells[index] = RecurrentFloats.clipped(cells[index], clip) }
    }
  }
}
