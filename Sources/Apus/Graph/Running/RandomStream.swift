// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The random numbers of one operator, which continue from run to run, until the operator is prepared for other shapes.
final class RandomStream {
  /// The position in the sequence.
  var stream: PhiloxStream
  private let first: PhiloxStream
  private let isArbitrary: Bool

  /// Starts from two seeds; two zeros mean arbitrary seeds.
  init(seed: UInt64, seed2: UInt64) {
    isArbitrary = seed == 0 && seed2 == 0
    first = PhiloxStream(
      seed: isArbitrary ? .random(in: .min ... .max) : seed,
      seed2: isArbitrary ? .random(in: .min ... .max) : seed2)
    stream = first
  }

  /// Restarts the sequence.
  func reset() {
    stream = first
  }

  /// Restarts the sequence unless its seeds are arbitrary: then another part of it is as good.
  func restart() {
    if !isArbitrary { reset() }
  }
}
