// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generated code for the loops of ``BilinearGrid`` and ``ClassCounts``; plain Swift runs the ones that are nil.
struct GridCode: Sendable {
  /// Arguments of ``cells``: a channel of a row of cells, interpolated for each column.
  struct Cells: CodeArguments {
    /// The channel's number in the row's first cell.
    var values: Int
    /// For each column: the distances to its two cells, in bytes, and the weight of the second.
    var first: Int
    var second: Int
    var weights: Int
    var target: Int
    /// The number of columns, at least one.
    var count: Int
  }

  /// Arguments of ``largest``: the largest of the channels between two rows.
  struct Largest: CodeArguments {
    /// The rows above and below, each a plane for each channel.
    var upper: Int
    var lower: Int
    /// From plane to plane, in bytes.
    var planeStride: Int
    /// How many channels there are beyond the first.
    var others: Int
    var target: Int
    /// The number of blocks of ``BilinearGrid/block`` columns, at least one.
    var blocks: Int
    /// The weight of the row below.
    var weight: Float
    var one: Int32 = 1
  }

  /// Arguments of the code of ``ClassCounts``.
  struct Counts: CodeArguments {
    var classes: Int
    /// How many classes are counted, at least one.
    var count: Int
    /// 65,536 counters of eight bytes.
    var counters: Int
  }

  let cells: CodeFunction<Cells>?
  let largest: CodeFunction<Largest>?

  /// The code for the instructions that a set requires.
  init(_ kernels: KernelSet) {
    let hasTarget = kernels.pictureTarget != nil
    cells = hasTarget ? try? unsafe CodeFunction(X86GridCellsGenerator()) : nil
    largest = hasTarget ? try? unsafe CodeFunction(X86GridLargestGenerator()) : nil
    ExecutableMemory.seal()
  }
}
