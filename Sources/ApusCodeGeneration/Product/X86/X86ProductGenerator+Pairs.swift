// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Products of floats with K-steps of two values: see ``TermPairs``.
extension X86ProductGenerator {
  /// One K-step.
  func pairedStep(_ a: inout X86Assembler, _ bases: [General], _ index: Int, _ pairs: TermPairs) {
    let end = end
    let weights = index * pairs.stepByteCount
    for term in 0..<2 where pairs.wholeCount > 0 {
      let set = (2 * index + term) % shape.sumSets
      load(&a, vectors: 0..<pairs.wholeCount, from: weights + term * pairs.wholeByteCount)
      for row in 0..<rowCount {
        let memory = end.place(bases, row, 8 * index + 4 * term)
        if pairs.wholeCount == 1 {
          a.vector(.vfmadd231ps, width, sum(row, 0, set), weight(0), memory, broadcasts: true)
          continue
        }
        a.vector(.vbroadcastss, width, lane(row), 0, memory)
        for vector in 0..<pairs.wholeCount {
          a.vector(.vfmadd231ps, width, sum(row, vector, set), lane(row), weight(vector))
        }
      }
    }
    guard pairs.hasHalf else { return }
    let half = pairs.wholeCount
    load(&a, vectors: half..<half + 1, from: weights + 2 * pairs.wholeByteCount)
    for row in 0..<rowCount {
      a.vector(.vpbroadcastq, width, lane(row), 0, end.place(bases, row, 8 * index))
      a.vector(.vfmadd231ps, width, sum(row, half, index % shape.sumSets), lane(row), weight(half))
    }
  }

  /// Adds the two lanes of each sum in the shared vector, and compacts the sums.
  func addPairs(_ a: inout X86Assembler, _ pairs: TermPairs) {
    guard pairs.hasHalf else { return }
    for row in 0..<rowCount {
      let sum = sum(row, pairs.wholeCount, 0)
      a.vector(.vmovshdup, width, lane(row), 0, sum)
      a.vector(.vaddps, width, lane(row), lane(row), sum)
      a.vector(.vpmovqd, width, lane(row), 0, sum)
    }
  }

  private func load(_ a: inout X86Assembler, vectors: Range<Int>, from offset: Int) {
    for (index, vector) in vectors.enumerated() {
      a.vector(.vmovups, width, weight(vector), 0, .init(.rsi, offset + 64 * index))
    }
  }

  private func sum(_ row: Int, _ vector: Int, _ set: Int) -> Int {
    end.sum(row, vector) + set * rowCount * shape.vectorCount
  }
  private var firstFree: Int { shape.sumSets * rowCount * shape.vectorCount }
  private func weight(_ vector: Int) -> Int { firstFree + vector }
  /// Several registers in turn, so that a broadcast need not wait for earlier products.
  private func lane(_ row: Int) -> Int {
    let first = weight(shape.vectorCount)
    return first + row % min(4, 32 - first)
  }
}
