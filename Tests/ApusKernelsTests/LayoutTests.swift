// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import Testing

/// Copies along strides and by tables, against the addresses spelled out.
@Suite struct LayoutTests {
  /// One copy of a block.
  struct Block: Sendable {
    let dimensions: [Int]
    let sourceStrides: [Int]
    let sourceOffset: Int
    let destinationStrides: [Int]
  }

  static let blocks: [Block] = [
    // Whole, transposed both ways, reversed, repeated, every second element, and a scalar.
    Block(
      dimensions: [3, 5, 7], sourceStrides: [35, 7, 1], sourceOffset: 0, destinationStrides: [35, 7, 1]),
    Block(dimensions: [67, 33], sourceStrides: [1, 67], sourceOffset: 0, destinationStrides: [33, 1]),
    Block(dimensions: [143, 81], sourceStrides: [1, 143], sourceOffset: 0, destinationStrides: [81, 1]),
    Block(
      dimensions: [143, 81], sourceStrides: [1, -143], sourceOffset: 11_440, destinationStrides: [81, 1]),
    Block(
      dimensions: [2, 16, 260], sourceStrides: [4160, 1, 16], sourceOffset: 0,
      destinationStrides: [4160, 260, 1]),
    Block(
      dimensions: [3, 2, 65, 40], sourceStrides: [1, 3, 240, 6], sourceOffset: 0,
      destinationStrides: [5200, 2600, 40, 1]),
    Block(
      dimensions: [300, 3, 300], sourceStrides: [900, 1, 3], sourceOffset: 0,
      destinationStrides: [900, 300, 1]),
    Block(dimensions: [4, 9], sourceStrides: [9, -1], sourceOffset: 8, destinationStrides: [9, 1]),
    Block(
      dimensions: [6, 5, 4], sourceStrides: [0, 4, 1], sourceOffset: 0, destinationStrides: [20, 4, 1]),
    Block(dimensions: [5, 6], sourceStrides: [24, 2], sourceOffset: 1, destinationStrides: [6, 1]),
    Block(dimensions: [3, 1_100], sourceStrides: [2, 0], sourceOffset: 0, destinationStrides: [1_100, 1]),
    Block(dimensions: [], sourceStrides: [], sourceOffset: 3, destinationStrides: []),
  ]

  @Test("each element arrives at its place", arguments: blocks, [1, 2, 4, 8])
  func copiesEachElement(block: Block, width: Int) throws {
    for set in [.portable] + KernelSet.supported {
      try copiesEachElement(block, width: width, set)
    }
  }

  private func copiesEachElement(_ block: Block, width: Int, _ set: KernelSet) throws {
    for threads in [1, 1, 3, 3] {
      // Every second memory is guarded at its other end.
      _ = GuardedMemory(count: 1, repeating: 0)
      let count = block.dimensions.reduce(1, *)
      let places = (0..<count).map { place in
        var (rest, source, destination) = (place, block.sourceOffset, 0)
        for axis in block.dimensions.indices.reversed() {
          let coordinate = rest % block.dimensions[axis]
          rest /= block.dimensions[axis]
          source += coordinate * block.sourceStrides[axis]
          destination += coordinate * block.destinationStrides[axis]
        }
        return (source: source, destination: destination)
      }
      let source = (0..<((places.map(\.source).max() ?? 0) + 1) * width).map {
        UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8)
      }
      var expected = [UInt8](repeating: 0, count: count * width)
      for place in places {
        for byte in 0..<width {
          expected[place.destination * width + byte] = source[place.source * width + byte]
        }
      }
      let input = try #require(GuardedMemory(source))
      let output = try #require(GuardedMemory(count: count * width, repeating: 0))
      let copy = try #require(
        StridedCopy(
          elementByteCount: width, dimensions: block.dimensions, sourceStrides: block.sourceStrides,
          sourceOffset: block.sourceOffset, destinationStrides: block.destinationStrides, using: set))
      withExtendedLifetime((input, output)) {
        var bytes = unsafe output.bytes.mutableBytes
        copy.run(
          unsafe UnsafeRawBufferPointer(input.bytes).bytes, to: &bytes, threads: ThreadTeam(count: threads))
        #expect(unsafe Array(output.bytes) == expected)
      }
    }
  }

  @Test("walks that leave memory or overflow are refused")
  func refusesImpossibleWalks() {
    func copy(_ dimensions: [Int], _ strides: [Int], offset: Int = 0) -> StridedCopy? {
      StridedCopy(
        elementByteCount: 8, dimensions: dimensions, sourceStrides: strides, sourceOffset: offset,
        destinationStrides: dimensions.map { _ in 1 })
    }
    #expect(copy([3], [-1], offset: 1) == nil)
    #expect(copy([3], [-1], offset: 2) != nil)
    #expect(copy([1 << 40], [1 << 40]) == nil)
    #expect(copy([-1], [1]) == nil)
    #expect(copy([0, 1 << 62], [1 << 62, 1 << 62]) != nil)
  }

  @Test("tables name the source of each coordinate", arguments: [1, 2, 3, 4, 8, 16, 21])
  func copiesByTables(run: Int) throws {
    let tables = [[2, 0, 1, 1], [3, 0], [1, 1, 0]]
    let strides = [8 * run, 2 * run, run]
    let source = (0..<3 * 8 * run).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var expected: [UInt8] = []
    for first in tables[0] {
      for second in tables[1] {
        for third in tables[2] {
          let offset = first * strides[0] + second * strides[1] + third * strides[2]
          expected += source[offset..<offset + run]
        }
      }
    }
    let copy = try #require(IndexedCopy(tables: tables, strides: strides, run: run))
    var output = [UInt8](repeating: 0, count: expected.count)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    copy.run(source.span.bytes, to: &bytes, threads: ThreadTeam(count: 2))
    #expect(output == expected)
    #expect(IndexedCopy(tables: [[-1]], strides: [1], run: 1) == nil)
  }
}
