// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Random bits as functions of a key and a counter.
///
/// Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).
enum CounterBasedBits {
  /// Philox with four words and ten rounds.
  static func philox(key: SIMD2<UInt32>, counter: SIMD4<UInt32>) -> SIMD4<UInt32> {
    var (key, words) = (key, counter)
    for _ in 0..<10 {
      let first = (0xD251_1F53 as UInt32).multipliedFullWidth(by: words[0])
      let second = (0xCD9E_8D57 as UInt32).multipliedFullWidth(by: words[2])
      words = SIMD4(
        second.high ^ words[1] ^ key[0], second.low, first.high ^ words[3] ^ key[1], first.low)
      key &+= SIMD2(0x9E37_79B9, 0xBB67_AE85)
    }
    return words
  }

  /// Threefry with two words and twenty rounds.
  static func threefry(key: SIMD2<UInt32>, counter: SIMD2<UInt32>) -> SIMD2<UInt32> {
    let keys = SIMD4(key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA, 0)
    let rotations = (SIMD4<UInt32>(13, 15, 26, 6), SIMD4<UInt32>(17, 29, 16, 24))
    var words = counter &+ key
    for group in 0..<5 {
      let distances = group.isMultiple(of: 2) ? rotations.0 : rotations.1
      for round in 0..<4 {
        words[0] &+= words[1]
        words[1] = words[1] &<< distances[round] | words[1] &>> (32 &- distances[round])
        words[1] ^= words[0]
      }
      words[0] &+= keys[(group &+ 1) % 3]
      words[1] &+= keys[(group &+ 2) % 3] &+ UInt32(group &+ 1)
    }
    return words
  }
}

/// The random bits of `STABLEHLO_RNG_BIT_GENERATOR`, which depend on a state that it updates.
///
/// A state has up to eight words; the first two are the key, the next two the low half of the counter.
package enum RandomBits: Sendable {
  /// The high half of the counter is the last two words of a state of six, otherwise the key.
  case philox
  /// The counter has a low half only.
  case threefry

  /// Fills `output`, whose bytes are a multiple of four, and writes the next state.
  package func fill(
    _ output: inout MutableRawSpan, state: RawSpan, nextState: inout MutableRawSpan, threads: ThreadTeam
  ) {
    func word(_ index: Int) -> UInt32 {
      unsafe state.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
    }
    precondition(state.byteCount >= 16 && nextState.byteCount >= state.byteCount)
    let key = SIMD2(word(0), word(1))
    let high = state.byteCount >= 24 ? SIMD2(word(4), word(5)) : key
    var counter = SIMD2(word(2), word(3))
    var offset = 0
    var poll = StopPoll(threads)
    while offset < output.byteCount, !poll.mustStop(before: 16) {
      switch self {
      case .philox:
        let bits = CounterBasedBits.philox(
          key: key, counter: SIMD4(counter[0], counter[1], high[0], high[1]))
        for index in 0..<4 where offset < output.byteCount {
          output.storeBytes(of: bits[index], toByteOffset: offset, as: UInt32.self)
          offset &+= 4
        }
      case .threefry:
        let bits = CounterBasedBits.threefry(key: key, counter: counter)
        for index in 0..<2 where offset < output.byteCount {
          output.storeBytes(of: bits[index], toByteOffset: offset, as: UInt32.self)
          offset &+= 4
        }
      }
      counter[0] &+= 1
      if counter[0] == 0 { counter[1] &+= 1 }
    }
    copyBytes(state, to: &nextState)
    nextState.storeBytes(of: counter[0], toByteOffset: 8, as: UInt32.self)
    nextState.storeBytes(of: counter[1], toByteOffset: 12, as: UInt32.self)
  }
}
