// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import Testing

@Suite("Memory pool")
struct MemoryPoolTests {
  private func isZero(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) -> Bool {
    UnsafeRawBufferPointer(start: memory, count: byteCount).allSatisfy { $0 == 0 }
  }

  @Test("parts are zeroed and apart, also where memory was lent before", arguments: [0, 1 << 20, 8 << 20])
  func parts(expected: Int) throws {
    let pool = MemoryPool(expectedByteCount: expected)
    var parts: [(start: UnsafeMutableRawPointer, count: Int)] = []
    for round in 0..<60 {
      let (count, distance) = (1 + round * 7919 % 200_000, round * 31 % 5 * 20_000)
      let lent = pool.lend(byteCount: count, distance: distance)
      if let lent { lent.initializeMemory(as: UInt8.self, repeating: 0xFF, count: count) }
      // While memory is lent, the pool lends no more.
      if lent != nil { #expect(pool.lend(byteCount: 1, distance: 0) == nil) }
      for byteCount in [max(distance, 1), 100] {
        let part = try #require(pool.allocate(byteCount: byteCount))
        #expect(Int(bitPattern: part).isMultiple(of: 64) && isZero(part, byteCount))
        part.initializeMemory(as: UInt8.self, repeating: 1, count: byteCount)
        parts.append((part, byteCount))
      }
      if let lent {
        #expect(UnsafeRawBufferPointer(start: lent, count: count).allSatisfy { $0 == 0xFF })
        pool.takeBack()
      }
    }
    let sorted = parts.sorted { $0.start < $1.start }
    for (part, next) in zip(sorted, sorted.dropFirst()) { #expect(part.start + part.count <= next.start) }
    for part in parts {
      #expect(UnsafeRawBufferPointer(start: part.start, count: part.count).allSatisfy { $0 == 1 })
    }
  }

  @Test("what does not fit is not lent")
  func room() {
    let pool = MemoryPool(expectedByteCount: 1 << 20)
    #expect(pool.lend(byteCount: 1 << 30, distance: 0) == nil)
    #expect(pool.lend(byteCount: 1, distance: .max) == nil)
    #expect(pool.lend(byteCount: 0, distance: 0) == nil)
    #expect(pool.lend(byteCount: 1 << 20, distance: 64) != nil)
  }
}
