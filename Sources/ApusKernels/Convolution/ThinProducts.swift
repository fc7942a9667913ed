// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// A product of some rows with some columns of an unpacked float matrix, over all of K. Addresses and strides
/// are in bytes.
package struct ThinProductBlock {
  /// The address of the rows.
  package var lhs: Int
  /// The distance of rows.
  package var lhsStride: Int
  /// The number of rows.
  package var rows: Int
  /// The address of the columns in the matrix.
  package var rhs: Int
  /// The distance of rows of the matrix.
  package var rhsStride: Int
  /// The address of the sums.
  package var output: Int
  /// The distance of rows of sums.
  package var outputStride: Int
  /// The size of a row of these columns, which fill vectors.
  package var columnByteCount: Int
}

/// Adds products to the values in the output.
package typealias ThinProductCode = @Sendable (ThinProductBlock) -> Void

/// Products of pairs of float matrices with few left rows (small M). Right matrices are not packed, because
/// packing one takes longer than multiplying it.
package struct ThinProducts: Sendable {
  /// The maximum number of rows for which this pays.
  private static let maximumRows = 8
  /// The part of a matrix that one thread reads at a time, in bytes.
  private static let tileByteCount = 1 << 17

  private let code: ThinProductCode
  private let rows: Int
  private let depth: Int
  private let columns: Int
  private let pairs: MatrixPairs
  /// The number of column ranges per product, and their length.
  private let parts: Int
  private let partLength: Int

  /// Prepares products of M×K with K×N; throws if the set has no code for them, or they do not pay.
  package init(rows: Int, depth: Int, columns: Int, pairs: MatrixPairs, using set: KernelSet)
    throws(Decline)
  {
    guard (1...Self.maximumRows).contains(rows), depth > 0 else {
      throw Decline("\(rows) rows are more than \(Self.maximumRows)")
    }
    code = try set.convolutions.thinProduct(rows: rows, depth: depth, columns: columns)
    (self.rows, self.depth, self.columns, self.pairs) = (rows, depth, columns, pairs)
    // By shape only. Multiples of cache lines, which threads do not share.
    let wanted = max(1, depth * columns * 4 / Self.tileByteCount)
    partLength = roundedUp(ceilingQuotient(columns, wanted), to: 64)
    parts = ceilingQuotient(columns, partLength)
  }

  /// The implementation in the output of `apus inspect --plan`.
  package var implementation: String {
    "generated product of \(rows) rows with matrices as they lie, up to \(min(partLength, columns)) columns at a time"
  }

  /// A text that fixes the order in which the terms of a sum are added: every product is computed by itself.
  package var summation: String { "\(rows) rows with matrices as they lie" }

  /// Computes all products.
  package func run(lhs: RawSpan, rhs: RawSpan, output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(
      lhs.byteCount >= pairs.lhsCount * rows * depth * 4
        && rhs.byteCount >= pairs.rhsCount * depth * columns * 4)
    precondition(output.byteCount >= pairs.count * rows * columns * 4)
    unsafe lhs.withUnsafeBytes { lhs in
      unsafe rhs.withUnsafeBytes { rhs in
        unsafe output.withUnsafeMutableBytes { output in
          guard let lhs = lhs.baseAddress, let rhs = rhs.baseAddress, let output = output.baseAddress else {
            return
          }
          let work = unsafe Work(products: self, lhs: lhs, rhs: rhs, output: output)
          threads.fitting(nanoseconds: nanoseconds).run(tiles: pairs.count &* parts, work)
        }
      }
    }
  }

  /// The estimated duration on one thread: the time to read the matrices.
  private var nanoseconds: Int {
    Int(min(Double(pairs.count) * Double(depth) * Double(columns) * 4, 0x1p40)) >> 5
  }

  /// One run, whose tiles are parts of products.
  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let products: ThinProducts
    let lhs: UnsafeRawPointer
    let rhs: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      let (index, part) = tile.quotientAndRemainder(dividingBy: products.parts)
      let (rows, depth, columns) = (products.rows, products.depth, products.columns)
      let first = part &* products.partLength
      let count = min(products.partLength, columns &- first)
      let pair = products.pairs[index]
      let target = unsafe output + (index &* rows &* columns &+ first) &* 4
      for row in 0..<rows {
        unsafe (target + row &* columns &* 4).initializeMemory(
          as: UInt8.self, repeating: 0, count: count &* 4)
      }
      unsafe products.code(
        ThinProductBlock(
          lhs: Int(bitPattern: lhs) &+ pair.lhs &* rows &* depth &* 4, lhsStride: depth &* 4, rows: rows,
          rhs: Int(bitPattern: rhs) &+ (pair.rhs &* depth &* columns &+ first) &* 4, rhsStride: columns &* 4,
          output: Int(bitPattern: target), outputStride: columns &* 4, columnByteCount: count &* 4))
    }
  }
}
