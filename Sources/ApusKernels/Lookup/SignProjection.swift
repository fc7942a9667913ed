// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Locality-sensitive bits: for each seed, the sign of a weighted sum of the hashes of a tensor's items.
package struct SignProjection: Sendable {
  private let items: Int
  private let itemByteCount: Int

  /// Projects `items` items of `itemByteCount` bytes each.
  package init(items: Int, itemByteCount: Int) {
    self.items = items
    self.itemByteCount = itemByteCount
  }

  /// The bytes of memory that ``bit(seed:_:weights:scratch:)`` needs.
  package var scratchByteCount: Int { itemByteCount + 4 }

  /// Whether the sum is above zero. Without weights, each item counts once.
  package func bit(
    seed: Float, _ input: RawSpan, weights: Span<Float>, scratch: inout MutableRawSpan,
    poll: inout StopPoll
  ) -> Bool {
    precondition(
      input.byteCount >= items * itemByteCount && scratch.byteCount >= scratchByteCount
        && (weights.isEmpty || weights.count >= items))
    var sum = 0.0
    scratch.storeBytes(of: seed, toByteOffset: 0, as: Float.self)
    unsafe input.withUnsafeBytes { input in
      unsafe scratch.withUnsafeMutableBytes { scratch in
        let key = unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[..<(itemByteCount + 4)])
        let content = unsafe UnsafeMutableRawBufferPointer(rebasing: key[4...])
        for item in 0..<items {
          if poll.mustStop(before: scratchByteCount &+ 16) { return }
          let first = item &* itemByteCount
          unsafe content.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: input[first..<first &+ itemByteCount]))
          let hash = unsafe Double(Int64(bitPattern: Fingerprint.of(UnsafeRawBufferPointer(key))))
          sum += weights.isEmpty ? hash : Double(weights[item]) * hash
        }
      }
    }
    return sum > 0
  }
}
