// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The sizes of an SVDF operator, and the functions on its state.
package struct SVDFShape: Hashable, Sendable {
  /// Rows of the input.
  package let batch: Int
  /// The number of filters: rank × units.
  package let filters: Int
  /// The number of past values that are kept per filter.
  package let memory: Int
  /// Filters of each unit.
  package let rank: Int

  /// Describes the operator; all numbers but the batch are positive, and the rank divides the filters.
  package init(batch: Int, filters: Int, memory: Int, rank: Int) {
    self.batch = batch
    self.filters = filters
    self.memory = memory
    self.rank = rank
  }

  /// Appends a row's new values to the state, and sums each unit's past values, weighted by time, unless the run has to end.
  package func apply(
    _ values: Span<Float>, batch index: Int, state: inout MutableSpan<Float>, time: Span<Float>,
    output: inout MutableSpan<Float>, threads: ThreadTeam
  ) {
    var poll = StopPoll(threads)
    precondition(values.count == filters && time.count == filters * memory)
    let units = filters / rank
    for unit in 0..<units {
      if poll.mustStop(before: 2 &* rank &* memory) { return }
      var total: Float = 0
      for filter in unit * rank..<(unit + 1) * rank {
        let first = (index * filters + filter) * memory
        var sum: Float = 0
        for step in 0..<memory {
          let value = step + 1 < memory ? state[first + step + 1] : values[filter]
          state[first + step] = value
          sum += time[filter * memory + step] * value
        }
        total += sum
      }
      output[index * units + unit] = total
    }
  }

  /// Adds a bias to a row.
  package func add(_ bias: Span<Float>, to output: inout MutableSpan<Float>) {
    let units = filters / rank
    precondition(bias.count == units && output.count == units)
    for unit in 0..<units { output[unit] += bias[unit] }
  }

  /// Drops the oldest value of each filter.
  package func shift(_ state: inout MutableSpan<Int16>) {
    guard state.count > 1 else { return }
    for index in 0..<state.count - 1 { state[index] = state[index + 1] }
  }

  /// Sums each unit's past values, weighted by time, and rescales; the bias must not be empty.
  package func finish(
    _ state: Span<Int16>, time: Span<Int16>, bias: Span<Int32>, _ multiplier: FixedPointMultiplier,
    zeroPoint: Int32, output: inout MutableSpan<Int8>, threads: ThreadTeam
  ) {
    precondition(state.count == batch * filters * memory && time.count == filters * memory)
    let units = filters / rank
    var poll = StopPoll(threads)
    for index in 0..<output.count {
      if poll.mustStop(before: rank * memory) { return }
      let (row, unit) = (index / units, index % units)
      var sum: Int32 = bias.count == units ? bias[unit] : 0
      for filter in unit * rank..<(unit + 1) * rank {
        for step in 0..<memory {
          let value = Int32(state[(row * filters + filter) * memory + step])
          sum &+= value &* Int32(time[filter * memory + step])
        }
      }
      output[index] = Int8(clamping: multiplier.apply(sum) &+ zeroPoint)
    }
  }
}
