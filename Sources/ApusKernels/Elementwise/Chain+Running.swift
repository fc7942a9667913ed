// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension Chain {
  /// Computes the result.
  package func run(
    _ inputs: ChainInputs, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    guard rows > 0 else { return }
    precondition(inputs.count == tensorByteCounts.count && output.byteCount >= outputByteCount)
    precondition(scratch.byteCount >= scratchByteCount(threads: threads.count))
    for (index, byteCount) in tensorByteCounts.enumerated() {
      precondition(inputs.byteCounts[index] >= byteCount)
    }
    unsafe output.withUnsafeMutableBytes { output in
      unsafe scratch.withUnsafeMutableBytes { scratch in
        guard let output = output.baseAddress, let scratch = scratch.baseAddress else { return }
        let sums = unsafe scratch.alignedUp(toMultipleOf: 64)
        let length = max(1, threads.tileLength(rows &* depth, least: 1 << 12, most: 1 << 15) / depth)
        let unit = memory.isWhole ? ceilingQuotient(1024, depth) : memory.blockRows
        let work = unsafe Work(
          chain: self, inputs: inputs.addresses, output: columnParts > 0 ? sums : output,
          scratch: sums + sumByteCount, rows: roundedUp(length, to: unit))
        guard columnParts > 0 else { return threads.run(tiles: ceilingQuotient(rows, work.rows), work) }
        threads.run(tiles: columnParts, work)
        unsafe join(sums.assumingMemoryBound(to: Float.self), output.assumingMemoryBound(to: Float.self))
      }
    }
  }

  /// Adds the partial sums of each column in order, and divides the sums for means.
  private func join(_ sums: UnsafeMutablePointer<Float>, _ output: UnsafeMutablePointer<Float>) {
    for column in 0..<depth {
      var sum = unsafe sums[column]
      for part in 1..<columnParts { sum = unsafe SumOfFloats.join(sum, sums[part &* depth &+ column]) }
      unsafe output[column] = sum / divisor
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let chain: Chain
    let inputs: SIMD8<Int>
    /// The result, or the partial sums of columns.
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer
    /// The number of rows of a tile, unless a tile is a part of the sums of columns.
    let rows: Int

    func run(tile: Int, worker: Int) {
      let memory = unsafe scratch + worker &* chain.memory.byteCount
      guard chain.columnParts > 0 else {
        let first = tile &* rows
        return unsafe chain.run(first..<min(first &+ rows, chain.rows), inputs, output, memory)
      }
      let byteCount = 4 &* chain.depth
      let sums = unsafe output + tile &* byteCount
      unsafe sums.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
      unsafe chain.run(share(of: chain.rows, tile: tile, of: chain.columnParts), inputs, sums, memory)
    }
  }

  /// Computes a range of rows, one block at a time.
  private func run(
    _ range: Range<Int>, _ inputs: SIMD8<Int>, _ output: UnsafeMutableRawPointer,
    _ memory: UnsafeMutableRawPointer
  ) {
    let (copies, restarts) = (self.memory.copies, self.memory.restarts)
    for copy in copies where copy.strip.repeats == 1 {
      unsafe repeatRows(copy, at: inputs[copy.tensor], memory)
    }
    var first = range.lowerBound
    while first < range.upperBound {
      var count = min(self.memory.blockRows, range.upperBound &- first)
      for rows in restarts { count = min(count, rows &- first % rows) }
      for copy in copies where copy.strip.repeats > 1 {
        unsafe spreadElements(copy, at: inputs[copy.tensor], first, count, memory)
      }
      for index in codes.indices { unsafe run(index, first, count, inputs, output, memory) }
      first &+= count
    }
  }

  /// Computes a step for a block of rows.
  @inline(__always)
  private func run(
    _ index: Int, _ first: Int, _ count: Int, _ inputs: SIMD8<Int>, _ output: UnsafeMutableRawPointer,
    _ memory: UnsafeMutableRawPointer
  ) {
    let step = self.memory.steps[index]
    let result = unsafe step.place < 0 ? output + first &* step.stride : memory + step.place
    if let code = codes[index] {
      var call = FormulaCode.Rows(output: Int(bitPattern: result), inputs: SIMD8<Int>())
      for number in 0..<step.operandCount {
        let operand = self.memory.operands[step.firstOperand &+ number]
        call.inputs[number] = unsafe Int(bitPattern: address(of: operand, inputs, first, memory))
        call.strides[number] = operand.stride
      }
      guard !step.isJoined else { return code.run(call, depth: count) }
      call.count = count
      call.outputStride = step.stride
      call.divisor = step.divisor
      return code.run(call, depth: depth)
    }
    // A function of one operand receives it twice.
    let left = self.memory.operands[step.firstOperand]
    let right = self.memory.operands[step.firstOperand &+ step.operandCount &- 1]
    let lhs = unsafe address(of: left, inputs, first, memory)
    let rhs = unsafe address(of: right, inputs, first, memory)
    let fill = unsafe fills[index]
    if step.isJoined {
      unsafe fill(result, count &* step.length, lhs, left.step, rhs, right.step)
    } else {
      for row in 0..<count {
        unsafe fill(
          result + row &* step.stride, step.length, lhs + row &* left.stride, left.step,
          rhs + row &* right.stride, right.step)
      }
    }
    guard let tail = tails[index] else { return }
    var done = 0
    while done < count &* step.length {
      let part = min(count &* step.length &- done, PostOperation.stretch)
      unsafe tail.apply(
        to: result.assumingMemoryBound(to: Float.self) + done, position: first &* step.length &+ done,
        count: part)
      done &+= part
    }
  }

  /// The address of an operand's rows of a block.
  @inline(__always)
  private func address(
    of operand: ChainMemory.Operand, _ inputs: SIMD8<Int>, _ first: Int, _ memory: UnsafeMutableRawPointer
  ) -> UnsafeRawPointer {
    let row = operand.rows == 1 ? 0 : first < operand.rows ? first : first % operand.rows
    guard operand.tensor >= 0 else {
      return unsafe UnsafeRawPointer(memory + (operand.place &+ row &* operand.stride))
    }
    // Tensors with elements have an address.
    let source = unsafe UnsafeRawPointer(bitPattern: inputs[operand.tensor]) ?? UnsafeRawPointer(memory)
    return unsafe source + row &* operand.stride
  }

  // MARK: Copies

  /// Copies a tensor side by side, so that the rows of a block are one stretch from any row on.
  private func repeatRows(_ copy: ChainMemory.Copy, at address: Int, _ memory: UnsafeMutableRawPointer) {
    guard let source = unsafe UnsafeRawPointer(bitPattern: address) else { return }
    let target = unsafe memory + copy.place
    var done = copy.strip.byteCount
    unsafe target.copyMemory(from: source, byteCount: done)
    while done < copy.byteCount {
      let part = min(done, copy.byteCount &- done)
      unsafe (target + done).copyMemory(from: target, byteCount: part)
      done &+= part
    }
  }

  /// Spreads out a tensor with one element in each row: writes each element once for each row of a block that reads it.
  private func spreadElements(
    _ copy: ChainMemory.Copy, at address: Int, _ first: Int, _ count: Int, _ memory: UnsafeMutableRawPointer
  ) {
    guard let source = unsafe UnsafeRawPointer(bitPattern: address) else { return }
    let target = unsafe memory + copy.place
    let (repeats, period) = (copy.strip.repeats, copy.strip.rows)
    switch copy.strip.stride {
    case 1: spread(UInt8.self)
    case 2: spread(UInt16.self)
    case 4: spread(UInt32.self)
    default: spread(UInt64.self)
    }

    @inline(__always)
    func spread<T: BitwiseCopyable>(_ type: T.Type) {
      let (from, to) = unsafe (source.assumingMemoryBound(to: T.self), target.assumingMemoryBound(to: T.self))
      var (element, before) = first.quotientAndRemainder(dividingBy: repeats)
      element %= period
      var done = 0
      while done < count {
        let part = min(count &- done, repeats &- before)
        unsafe (to + done).update(repeating: from[element], count: part)
        done &+= part
        before = 0
        element = element &+ 1 == period ? 0 : element &+ 1
      }
    }
  }
}
