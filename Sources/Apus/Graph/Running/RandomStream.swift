// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The random numbers of one operator, which continue from run to run.
final class RandomStream {
  /// The position in the sequence.
  var stream: PhiloxStream
  private let first: PhiloxStream

  /// Starts from two seeds; two zeros mean arbitrary seeds.
  init(seed: UInt64, seed2: UInt64) {
    let isFree = seed == 0 && seed2 == 0
    first = PhiloxStream(
      seed: isFree ? .random(in: .min ... .max) : seed, seed2: isFree ? .random(in: .min ... .max) : seed2)
    stream = first
  }

  /// Restarts the sequence.
  func reset() {
    stream = first
  }
}
