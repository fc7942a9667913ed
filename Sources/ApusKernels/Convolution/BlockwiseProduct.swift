// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A product of float rows with rows of small integers that have a scale per block.
///
/// Each row of the input is quantized to bytes with a zero point. Sums within a block are exact integers;
/// sums of blocks are floats.
package struct BlockwiseProduct: Sendable {
  private let rows: Int
  private let depth: Int
  private let units: Int
  private let blockSize: Int
  private let scales: [Float]
  private let bounds: ScalarBounds<Float>
  private let quantization: HybridQuantization

  /// Describes a product with `units` rows of `depth` weights and a scale for each block of `blockSize`
  /// weights, which divides the depth.
  package init(
    rows: Int, depth: Int, units: Int, blockSize: Int, scales: [Float], minimum: Float, maximum: Float
  ) {
    precondition(
      blockSize > 0 && depth.isMultiple(of: blockSize) && scales.count == units * (depth / blockSize))
    self.rows = rows
    self.depth = depth
    self.units = units
    self.blockSize = blockSize
    self.scales = scales
    bounds = ScalarBounds(minimum: minimum, maximum: maximum)
    quantization = HybridQuantization(batches: rows, count: depth, isAsymmetric: true)
  }

  /// The scratch memory of a run, in bytes.
  package var scratchByteCount: Int { quantization.byteCount }

  /// Computes `rows×units` floats; weights take a byte each.
  package func run(
    _ input: RawSpan, weights: RawSpan, bias: RawSpan?, to output: inout MutableRawSpan,
    scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= rows * depth * 4 && weights.byteCount >= units * depth
        && output.byteCount >= rows * units * 4 && scratch.byteCount >= scratchByteCount
        && bias?.byteCount ?? .max >= units * 4)
    guard rows > 0 else { return }
    unsafe input.withUnsafeBytes { input in
      unsafe weights.withUnsafeBytes { weights in
        unsafe output.withUnsafeMutableBytes { output in
          unsafe scratch.withUnsafeMutableBytes { scratch in
            guard let input = input.baseAddress, let weights = weights.baseAddress,
              let output = output.baseAddress, let scratch = scratch.baseAddress
            else { return }
            let steps = unsafe scratch.assumingMemoryBound(to: Float.self)
            let words = unsafe quantization.run(input, to: scratch, threads: threads)
              .assumingMemoryBound(to: Int16.self)
            let results = unsafe output.assumingMemoryBound(to: Float.self)
            var poll = StopPoll(threads)
            for row in 0..<rows {
              if poll.mustStop(before: units) { return }
              for unit in 0..<units {
                var start: Float = 0
                if let bias { start = unsafe bias.unsafeLoad(fromByteOffset: unit &* 4, as: Float.self) }
                unsafe results[row &* units &+ unit] = start
              }
            }
            // As many rows as take some milliseconds, but at least one.
            let tileRows = max(1, min(rows, (1 << 22) / max(1, depth * Self.tileUnits)))
            let work = unsafe Work(
              product: self, words: words, steps: steps, weights: weights.assumingMemoryBound(to: Int8.self),
              output: results, tileRows: tileRows)
            threads.run(
              tiles: ceilingQuotient(units, Self.tileUnits) * ceilingQuotient(rows, tileRows), work)
          }
        }
      }
    }
  }

  private static let tileUnits = 16

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let product: BlockwiseProduct
    let words: UnsafePointer<Int16>
    let steps: UnsafePointer<Float>
    let weights: UnsafePointer<Int8>
    let output: UnsafeMutablePointer<Float>
    let tileRows: Int

    func run(tile: Int, worker: Int) {
      let (depth, units, size) = (product.depth, product.units, product.blockSize)
      let blocks = depth / size
      let rowTiles = ceilingQuotient(product.rows, tileRows)
      let first = tile / rowTiles &* BlockwiseProduct.tileUnits
      let firstRow = tile % rowTiles &* tileRows
      for unit in first..<min(units, first &+ BlockwiseProduct.tileUnits) {
        for row in firstRow..<min(product.rows, firstRow &+ tileRows) {
          var sum: Float = 0
          for block in 0..<blocks {
            let offset = block &* size
            let exact = unsafe dot(
              words + (row &* depth &+ offset), weights + (unit &* depth &+ offset), size)
            sum += Float(exact) * product.scales[unit &* blocks &+ block]
          }
          let place = row &* units &+ unit
          unsafe output[place] = product.bounds.clamp(sum * steps[row] + output[place])
        }
      }
    }

    private func dot(_ words: UnsafePointer<Int16>, _ bytes: UnsafePointer<Int8>, _ count: Int) -> Int32 {
      var sum: Int32 = 0
      for index in 0..<count { sum &+= unsafe Int32(words[index]) &* Int32(bytes[index]) }
      return sum
    }
  }
}
