// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Products of pairs of matrices with one kernel for all: BATCH_MATMUL.
///
/// Each left matrix is M×K, each right one N×K; either may be stored transposed.
package struct ProductBatch: Sendable {
  private let kernel: any PreparedConvolution
  private let pairs: MatrixPairs
  /// The number of groups of consecutive products with one right matrix, which is packed once per group.
  private let groupCount: Int
  private let shape: Shape
  private let isLhsTransposed: Bool
  private let isRhsTransposed: Bool
  private let packsRows: Bool

  /// The sizes of the matrices.
  package struct Shape: Sendable {
    let rows: Int
    let depth: Int
    let outputs: Int
    /// The size of an element on the left, on the right, and of a product.
    let widths: (lhs: Int, rhs: Int, product: Int)

    /// Matrices of M×K and of N×K.
    package init(rows: Int, depth: Int, outputs: Int, widths: (lhs: Int, rhs: Int, product: Int)) {
      (self.rows, self.depth, self.outputs, self.widths) = (rows, depth, outputs, widths)
    }

    var lhsByteCount: Int { rows &* depth &* widths.lhs }
    var rhsByteCount: Int { outputs &* depth &* widths.rhs }
    var productByteCount: Int { rows &* outputs &* widths.product }
  }

  /// Products by a kernel for matrices of this shape, with K > 0.
  package init(
    _ kernel: any PreparedConvolution, _ shape: Shape, pairs: MatrixPairs, isLhsTransposed: Bool,
    isRhsTransposed: Bool
  ) {
    self.kernel = kernel
    self.shape = shape
    self.pairs = pairs
    self.isLhsTransposed = isLhsTransposed
    self.isRhsTransposed = isRhsTransposed
    packsRows = isRhsTransposed && kernel.packingRows != nil
    groupCount = pairs.count / pairs.together
  }

  // MARK: Memory

  private var lhsScratchByteCount: Int { isLhsTransposed ? roundedUp(shape.lhsByteCount, to: 64) : 0 }
  private var rhsScratchByteCount: Int {
    isRhsTransposed && !packsRows ? roundedUp(shape.rhsByteCount, to: 64) : 0
  }
  private func workerByteCount(threads: Int) -> Int {
    lhsScratchByteCount + rhsScratchByteCount + roundedUp(kernel.scratchByteCount(threads: threads), to: 64)
  }

  /// The number of groups that threads compute whole, equally many each; products of the remaining groups are
  /// shared among threads.
  private func wholeCount(threads: Int) -> Int {
    threads > 1 ? groupCount / threads * threads : 0
  }

  /// The number of `PackedWeights` that a run needs for right matrices that are not constant.
  package func packedCount(threads: Int) -> Int { wholeCount(threads: threads) > 0 ? threads : 1 }

  /// The scratch memory of a run.
  package func scratchByteCount(threads: Int) -> Int {
    max(workerByteCount(threads: threads), threads * workerByteCount(threads: 1))
  }

  // MARK: Runs

  /// Packs one of the right matrices; `scratch` has the size of a run's.
  package func pack(_ matrix: Int, of rhs: RawSpan, into packed: PackedWeights, scratch: inout MutableRawSpan)
  {
    precondition(rhs.byteCount >= (matrix + 1) * shape.rhsByteCount)
    precondition(scratch.byteCount >= lhsScratchByteCount + rhsScratchByteCount)
    unsafe rhs.withUnsafeBytes { rhs in
      unsafe scratch.withUnsafeMutableBytes { scratch in
        guard let rhs = rhs.baseAddress, let scratch = scratch.baseAddress else { return }
        unsafe pack(rhs + matrix * shape.rhsByteCount, into: packed, scratch: scratch)
      }
    }
  }

  /// Computes all products; `weights` are those of each right matrix, or memory for ``packedCount(threads:)``
  /// of them.
  package func run(
    lhs: RawSpan, rhs: RawSpan, weights: [PackedWeights], arePacked: Bool, output: inout MutableRawSpan,
    scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(scratch.byteCount >= scratchByteCount(threads: threads.count))
    precondition(output.byteCount >= pairs.count * shape.productByteCount)
    precondition(weights.count >= (arePacked ? pairs.rhsCount : packedCount(threads: threads.count)))
    precondition(lhs.byteCount >= pairs.lhsCount * shape.lhsByteCount)
    precondition(arePacked || rhs.byteCount >= pairs.rhsCount * shape.rhsByteCount)
    let alone = threads.alone
    let fitting = threads.fitting(nanoseconds: nanoseconds)
    let whole = fitting.count > 1 ? wholeCount(threads: fitting.count) : 0
    unsafe lhs.withUnsafeBytes { lhs in
      unsafe rhs.withUnsafeBytes { rhs in
        unsafe output.withUnsafeMutableBytes { output in
          unsafe scratch.withUnsafeMutableBytes { scratch in
            guard let lhs = lhs.baseAddress, let rhs = unsafe arePacked ? lhs : rhs.baseAddress,
              let output = output.baseAddress,
              let scratch = scratch.baseAddress
            else { return }
            func work(from first: Int, threads: ThreadTeam) -> Work {
              unsafe Work(
                batch: self, lhs: lhs, rhs: rhs, output: output, scratch: scratch, weights: weights,
                arePacked: arePacked, first: first, threads: threads,
                workerByteCount: workerByteCount(threads: threads.count))
            }
            fitting.run(tiles: whole, work(from: 0, threads: alone))
            alone.run(tiles: groupCount - whole, work(from: whole, threads: fitting))
          }
        }
      }
    }
  }

  /// The estimated duration on one thread.
  private var nanoseconds: Int {
    Int(min(Double(pairs.count) * Double(shape.rows) * Double(shape.depth) * Double(shape.outputs), 0x1p40))
      >> 6
  }

  /// One run, whose tiles are groups.
  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let batch: ProductBatch
    let lhs: UnsafeRawPointer
    let rhs: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer
    let weights: [PackedWeights]
    let arePacked: Bool
    /// The group of the first tile.
    let first: Int
    /// The threads for the parts of each product.
    let threads: ThreadTeam
    let workerByteCount: Int

    func run(tile: Int, worker: Int) {
      let number = (first &+ tile) &* batch.pairs.together
      let matrix = batch.pairs[number].rhs
      let packed = weights[arePacked ? matrix : worker]
      let scratch = unsafe scratch + worker &* workerByteCount
      if !arePacked {
        unsafe batch.pack(rhs + matrix &* batch.shape.rhsByteCount, into: packed, scratch: scratch)
      }
      // A tile may have many products, which do not check for cancellation themselves.
      var poll = StopPoll(threads)
      for index in number..<number &+ batch.pairs.together {
        if poll.mustStop(before: 16 &+ batch.shape.lhsByteCount &+ batch.shape.productByteCount) { return }
        unsafe batch.multiply(
          lhs + batch.pairs[index].lhs &* batch.shape.lhsByteCount, packed,
          to: output + index &* batch.shape.productByteCount, scratch: scratch,
          scratchByteCount: workerByteCount, threads: threads)
      }
    }
  }

  private func pack(_ matrix: UnsafeRawPointer, into packed: PackedWeights, scratch: UnsafeMutableRawPointer)
  {
    let source = unsafe RawSpan(_unsafeStart: matrix, byteCount: shape.rhsByteCount)
    if packsRows, let kernel = kernel.packingRows {
      kernel.pack(rows: source, into: packed)
    } else if isRhsTransposed {
      var columns = unsafe MutableRawSpan(
        _unsafeStart: scratch + lhsScratchByteCount, byteCount: shape.rhsByteCount)
      ElementRuns.transpose(
        source, rows: shape.depth, columns: shape.outputs, count: 1, width: shape.widths.rhs, into: &columns)
      kernel.pack(weights: columns.bytes, bias: nil, into: packed)
    } else {
      kernel.pack(weights: source, bias: nil, into: packed)
    }
  }

  private func multiply(
    _ matrix: UnsafeRawPointer, _ packed: PackedWeights, to product: UnsafeMutableRawPointer,
    scratch: UnsafeMutableRawPointer, scratchByteCount: Int, threads: ThreadTeam
  ) {
    let source = unsafe RawSpan(_unsafeStart: matrix, byteCount: shape.lhsByteCount)
    var product = unsafe MutableRawSpan(_unsafeStart: product, byteCount: shape.productByteCount)
    let used = lhsScratchByteCount &+ rhsScratchByteCount
    var rest = unsafe MutableRawSpan(_unsafeStart: scratch + used, byteCount: scratchByteCount &- used)
    guard isLhsTransposed else {
      return kernel.run(packed, input: source, output: &product, scratch: &rest, threads: threads)
    }
    var rows = unsafe MutableRawSpan(_unsafeStart: scratch, byteCount: shape.lhsByteCount)
    ElementRuns.transpose(
      source, rows: shape.depth, columns: shape.rows, count: 1, width: shape.widths.lhs, into: &rows)
    kernel.run(packed, input: rows.bytes, output: &product, scratch: &rest, threads: threads)
  }
}
