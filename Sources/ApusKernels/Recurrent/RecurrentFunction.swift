// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// An activation of recurrent operators, by a kernel set's code if it has any.
struct RecurrentFunction: Sendable {
  private let activation: RecurrentActivation
  private let operation: PostOperation?

  /// Finds the code of an activation.
  init(_ activation: RecurrentActivation, using set: KernelSet) {
    self.activation = activation
    let function: FloatFunction? =
      switch activation {
      // The kernel sets' clamps keep NaN, those of recurrent operators do not.
      case .none, .signBit, .relu, .reluN1To1, .relu6: nil
      case .tanh: .tanh
      case .logistic: .logistic
      }
    operation = function.flatMap { PostOperation($0, using: set) }
  }

  /// Applies the function in place, unless the run has to end.
  func apply(to values: UnsafeMutablePointer<Float>, count: Int, threads: ThreadTeam) {
    guard let operation else {
      var span = unsafe MutableSpan(_unsafeStart: values, count: count)
      return activation.apply(to: &span, threads: threads)
    }
    var poll = StopPoll(threads)
    var first = 0
    while first < count {
      let part = min(Self.stretch, count &- first)
      if poll.mustStop(before: part) { return }
      unsafe operation.apply(to: values + first, position: 0, count: part)
      first &+= part
    }
  }

  /// Values between two questions whether the run has to end.
  private static let stretch = 1 << 16
}
