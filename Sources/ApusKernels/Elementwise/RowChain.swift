// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Elementwise kernels and reductions of a matrix, applied one after the other to a block of rows at a time, which stays in the
/// first-level cache. The normalization of rows by their means is an example.
///
/// Stages compute a value for each element or one for each row; the last may reduce columns. Stages of floats that a kernel set
/// has code for become one generated function, sums of rows included. Each stage computes what its kernel computes alone:
/// results are bit-identical.
@safe package struct RowChain: ChainKernel {
  /// The computation of a stage.
  package enum Stage: Sendable {
    /// A value for each element, or for each row.
    case elements(ElementwiseStage)
    /// A float for each row, or, as the last stage, for each column.
    case reduction(ReductionStage)
  }

  /// The maximum number of stages.
  package static let maximumStages = 16

  private let rows: Int
  private let depth: Int
  private let blockRows: Int
  private let steps: [Step]
  /// The functions that compute the steps.
  private let fills: [ElementwiseStage.Fill]
  /// The operations applied to the float results of some steps.
  private let tails: [PostOperation?]
  /// The code of steps that combine several stages, or sum rows.
  private let codes: [FormulaCode?]
  package let parts: ChainParts
  private let tensors: [Tensor]
  /// The tensors that the last stage reads.
  private let lastTensors: [Int]
  /// The reduction of columns at the end, whose partial sums come first in the scratch memory of a run.
  private let columns: ReductionStage?
  private let outputByteCount: Int
  private let workerByteCount: Int
  /// Whether the last stage, if it is elementwise, may overwrite an operand in place.
  private let lastMayOverwrite: Bool

  /// Chains stages over `rows` rows of `depth` elements. Each stage reads tensors and results of earlier stages.
  ///
  /// - Parameter set: the kernel set that may have code for groups of float stages.
  /// - Throws: `Decline` if the stages do not fit each other, exceed the limits, or do not pay.
  package init(
    _ stages: [(stage: Stage, sources: [ElementwiseChain.Source])], tensorCount: Int, rows: Int, depth: Int,
    using set: KernelSet = .portable
  ) throws(Decline) {
    let stageLayout = try StageLayout(stages, tensorCount: tensorCount, rows: rows, depth: depth)
    let groups = stageLayout.groups(using: set)
    let layout = Layout(stageLayout, groups)
    self.rows = rows
    self.depth = depth
    columns = stageLayout.columns
    blockRows = layout.blockRows
    tensors = layout.tensors
    workerByteCount = layout.byteCount
    steps = groups.indices.map { layout.step($0) }
    parts = stageLayout.parts(groups, using: set)
    codes = groups.map(\.code)
    unsafe fills = groups.map { unsafe stages[$0.last].stage.fill }
    tails = groups.map { stages[$0.last].stage.tail }
    lastTensors = groups[groups.count - 1].sources.compactMap {
      if case .tensor(let number) = $0 { number } else { nil }
    }
    outputByteCount = columns == nil ? rows * steps[steps.count - 1].byteCount : depth * 4
    lastMayOverwrite = stages[stages.count - 1].stage.mayOverwrite
  }

  /// The bytes of the partial sums of columns.
  private var sumByteCount: Int { columnParts > 0 ? roundedUp(columnParts * depth * 4, to: 64) : 0 }
  private var columnParts: Int { if case .columns(let parts) = columns?.direction { parts } else { 0 } }

  package func scratchByteCount(threads: Int) -> Int { 64 + sumByteCount + threads * workerByteCount }

  package func mayOverwrite(_ tensor: Int) -> Bool {
    guard columns == nil, let last = steps.last else { return false }
    let own = tensors[tensor].strip
    guard own.extent.rows == rows, own.extent.elements * own.stride == last.byteCount,
      tensors[tensor].copy == nil, own.extent.elements == last.length
    else { return false }
    return lastMayOverwrite || !lastTensors.contains(tensor)
  }

  package var implementation: String {
    "in blocks of \(blockRows) rows of \(depth): \(parts.text)"
  }

  // MARK: Running

  package func run(
    _ inputs: ChainInputs, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(inputs.count == tensors.count && output.byteCount >= outputByteCount)
    precondition(scratch.byteCount >= scratchByteCount(threads: threads.count))
    for (index, tensor) in tensors.enumerated() {
      precondition(inputs.byteCounts[index] >= tensor.byteCount)
    }
    unsafe output.withUnsafeMutableBytes { output in
      unsafe scratch.withUnsafeMutableBytes { scratch in
        guard let output = output.baseAddress, let scratch = scratch.baseAddress else { return }
        let memory = unsafe scratch.alignedUp(toMultipleOf: 64)
        let length = threads.tileLength(rows &* depth, least: 1 << 12, most: 1 << 15)
        let work = unsafe Work(
          chain: self, inputs: inputs.addresses, output: output, sums: memory, scratch: memory + sumByteCount,
          rows: roundedUp(max(1, length / depth), to: blockRows))
        guard columnParts == 0 else {
          threads.run(tiles: columnParts, work)
          return unsafe join(
            memory.assumingMemoryBound(to: Float.self), output.assumingMemoryBound(to: Float.self))
        }
        threads.run(tiles: ceilingQuotient(rows, work.rows), work)
      }
    }
  }

  /// Adds the partial sums of each column in order, and divides the sums for means.
  private func join(_ sums: UnsafeMutablePointer<Float>, _ output: UnsafeMutablePointer<Float>) {
    for column in 0..<depth {
      var sum = unsafe sums[column]
      for part in 1..<max(columnParts, 1) {
        sum = unsafe SumOfFloats.join(sum, sums[part &* depth &+ column])
      }
      unsafe output[column] = columns?.divisor.map { sum / $0 } ?? sum
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let chain: RowChain
    let inputs: SIMD8<Int>
    let output: UnsafeMutableRawPointer
    let sums: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer
    /// The number of rows of a tile.
    let rows: Int

    func run(tile: Int, worker: Int) {
      let memory = unsafe scratch + worker &* chain.workerByteCount
      unsafe chain.repeatRows(inputs, memory)
      guard chain.columnParts > 0 else {
        let first = tile &* rows
        return unsafe chain.run(first..<min(first &+ rows, chain.rows), inputs, output, memory)
      }
      let sums = unsafe sums + tile &* chain.depth &* 4
      for column in 0..<chain.depth {
        unsafe sums.storeBytes(of: 0, toByteOffset: 4 &* column, as: Float.self)
      }
      unsafe chain.run(share(of: chain.rows, tile: tile, of: chain.columnParts), inputs, sums, memory)
    }
  }

  /// Copies each row that is broadcast to all rows side by side, once for each row of a block.
  private func repeatRows(_ inputs: SIMD8<Int>, _ memory: UnsafeMutableRawPointer) {
    for (index, tensor) in tensors.enumerated() {
      guard let copy = tensor.copy, let source = unsafe UnsafeRawPointer(bitPattern: inputs[index]) else {
        continue
      }
      for row in 0..<blockRows {
        unsafe (memory + (copy &+ row &* tensor.byteCount)).copyMemory(
          from: source, byteCount: tensor.byteCount)
      }
    }
  }

  /// Computes a range of rows, one block at a time.
  private func run(
    _ range: Range<Int>, _ inputs: SIMD8<Int>, _ output: UnsafeMutableRawPointer,
    _ memory: UnsafeMutableRawPointer
  ) {
    var first = range.lowerBound
    while first < range.upperBound {
      let end = min(first &+ blockRows, range.upperBound)
      for index in 0..<steps.count {
        if columnParts > 0, index == steps.count &- 1 {
          unsafe addColumns(
            of: steps[index].operands[0], inputs, from: first, count: end &- first, memory, to: output)
        } else {
          unsafe run(index, inputs, first..<end, memory, output)
        }
      }
      first = end
    }
  }

  /// Computes a stage for a block of rows.
  private func run(
    _ index: Int, _ inputs: SIMD8<Int>, _ rows: Range<Int>, _ memory: UnsafeMutableRawPointer,
    _ output: UnsafeMutableRawPointer
  ) {
    let step = steps[index]
    if let code = codes[index] { return unsafe run(code, step, inputs, rows, memory, output) }
    let fill = unsafe fills[index]
    let first = rows.lowerBound
    let (left, right) = (step.operands[0], step.operands[step.operands.count &- 1])
    let result = unsafe step.place < 0 ? output + first &* step.byteCount : memory + step.place
    if step.isJoined {
      unsafe fill(
        result, rows.count &* step.length, address(of: left, inputs, first, 0, memory), left.step,
        address(of: right, inputs, first, 0, memory), right.step)
    } else {
      for row in 0..<rows.count {
        unsafe fill(
          result + row &* step.byteCount, step.length, address(of: left, inputs, first, row, memory),
          left.step, address(of: right, inputs, first, row, memory), right.step)
      }
    }
    guard step.hasTail, let tail = tails[index] else { return }
    let total = rows.count &* step.length
    var done = 0
    while done < total {
      let part = min(total &- done, PostOperation.stretch)
      unsafe tail.apply(
        to: result.assumingMemoryBound(to: Float.self) + done, position: first &* step.length &+ done,
        count: part)
      done &+= part
    }
  }

  /// Computes a group of stages for a block of rows by generated code.
  private func run(
    _ code: FormulaCode, _ step: Step, _ inputs: SIMD8<Int>, _ rows: Range<Int>,
    _ memory: UnsafeMutableRawPointer, _ output: UnsafeMutableRawPointer
  ) {
    let first = rows.lowerBound
    let result = unsafe step.place < 0 ? output + first &* step.byteCount : memory + step.place
    var call = FormulaCode.Rows(output: Int(bitPattern: result), inputs: SIMD8<Int>())
    for index in 0..<step.operands.count {
      let operand = step.operands[index]
      call.inputs[index] = unsafe Int(bitPattern: address(of: operand, inputs, first, 0, memory))
      call.strides[index] = operand.rows == 1 ? 0 : operand.stride
    }
    guard !step.isJoined else { return code.run(call, depth: rows.count) }
    call.count = rows.count
    call.outputStride = step.byteCount
    call.divisor = step.divisor
    code.run(call, depth: depth)
  }

  /// The address of an operand's row, `row` rows after the first row of a block.
  @inline(__always)
  private func address(
    of operand: Operand, _ inputs: SIMD8<Int>, _ first: Int, _ row: Int, _ memory: UnsafeMutableRawPointer
  ) -> UnsafeRawPointer {
    guard operand.tensor >= 0 else {
      return unsafe UnsafeRawPointer(memory + (operand.place &+ row &* operand.stride))
    }
    // Tensors with elements have an address.
    let source = unsafe UnsafeRawPointer(bitPattern: inputs[operand.tensor]) ?? UnsafeRawPointer(memory)
    let place = first &+ row
    let own = operand.rows == rows ? place : operand.rows == 1 ? 0 : place % operand.rows
    return unsafe source + own &* operand.stride
  }

  /// Adds a block of rows to the sums of columns.
  private func addColumns(
    of operand: Operand, _ inputs: SIMD8<Int>, from first: Int, count: Int, _ memory: UnsafeMutableRawPointer,
    to sums: UnsafeMutableRawPointer
  ) {
    let source = unsafe address(of: operand, inputs, first, 0, memory)
    unsafe SumOfFloats.combineColumns(
      sums.assumingMemoryBound(to: Float.self), source.assumingMemoryBound(to: Float.self), stride: depth,
      rows: count, columns: depth)
  }
}
