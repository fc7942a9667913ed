// SPDX-License-Identifier: Apache-2.0

/// The layout of tensors in an interpreter's memory.
public struct MemoryPlan: Hashable, Sendable {
  /// One tensor's place.
  public struct Entry: Hashable, Sendable {
    /// The tensor's name; empty for scratch memory.
    public let name: String
    /// The block of memory; models whose shapes depend on data have several.
    public let block: Int
    /// Bytes from the block's start; a multiple of 64.
    public let offset: Int
    /// The tensor's size in bytes.
    public let byteCount: Int
    /// The first and the last operator during which the memory is held.
    public let lifetime: ClosedRange<Int>
  }

  /// Every tensor with its own memory, and scratch memory.
  public internal(set) var entries: [Entry] = []

  /// The size of all blocks, in bytes.
  public internal(set) var arenaByteCount = 0

  /// The size of the state that lives between runs, in bytes.
  public internal(set) var variableByteCount = 0
}

/// Assigns offsets to allocations so that two of them share bytes only if their lifetimes do not overlap.
///
/// Largest first, each at the lowest offset that is free for its whole lifetime: the "greedy by size" of Pisarchyk
/// and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
package struct OffsetAssignment {
  /// A need for memory during a lifetime.
  package struct Request {
    /// The bytes.
    package let byteCount: Int
    /// The first and the last operator that need it.
    package var lifetime: ClosedRange<Int>

    /// Requests bytes during a range of operators.
    package init(byteCount: Int, lifetime: ClosedRange<Int>) {
      self.byteCount = byteCount
      self.lifetime = lifetime
    }
  }

  /// More requests than this are placed one after the other, because the search is quadratic.
  static let searchLimit = 16384

  /// The offset of each request, in their order.
  package private(set) var offsets: [Int]

  /// The bytes of the whole block; nil if the sum overflows.
  package private(set) var byteCount: Int?

  /// Assigns offsets to all requests.
  package init(_ requests: [Request]) {
    offsets = Array(repeating: 0, count: requests.count)
    // The requests placed so far, sorted by offset.
    var placed: [Int] = []
    placed.reserveCapacity(requests.count)
    var total = 0
    let bySize = requests.indices.sorted {
      (requests[$0].byteCount, $1) > (requests[$1].byteCount, $0)
    }
    for index in bySize {
      let request = requests[index]
      guard let size = Self.aligned(request.byteCount) else { return }
      var offset = 0
      if requests.count > Self.searchLimit {
        offset = total
      } else {
        for other in placed where requests[other].lifetime.overlaps(request.lifetime) {
          if offsets[other] - offset >= size { break }
          offset = max(offset, offsets[other] + (Self.aligned(requests[other].byteCount) ?? 0))
        }
      }
      let (end, overflow) = offset.addingReportingOverflow(size)
      if overflow { return }
      offsets[index] = offset
      total = max(total, end)
      if requests.count <= Self.searchLimit {
        placed.insert(index, at: placed.firstIndex { offsets[$0] > offset } ?? placed.count)
      }
    }
    byteCount = total
  }

  private static func aligned(_ byteCount: Int) -> Int? {
    let (sum, overflow) = byteCount.addingReportingOverflow(TensorMemory.alignment - 1)
    return overflow ? nil : sum & ~(TensorMemory.alignment - 1)
  }
}
