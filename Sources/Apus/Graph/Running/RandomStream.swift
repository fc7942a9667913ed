// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The random numbers of one operator, which go on from run to run.
final class RandomStream {
  /// What comes next.
  var stream: PhiloxStream
  private let first: PhiloxStream

  /// Begins with two seeds; two zeros stand for any.
  init(seed: UInt64, seed2: UInt64) {
    let isFree = seed == 0 && seed2 == 0
    first = PhiloxStream(
      seed: isFree ? .random(in: .min ... .max) : seed, seed2: isFree ? .random(in: .min ... .max) : seed2)
    stream = first
  }

  /// Goes back to the first number.
  func reset() {
    stream = first
  }
}
