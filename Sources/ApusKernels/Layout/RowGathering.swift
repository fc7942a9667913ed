// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// GATHER: rows copied by index, from a tensor of batches, outer axes, the indexed axis and rows.
package struct RowGathering: Sendable {
  private let batches: Int
  private let outer: Int
  private let length: Int
  private let indices: Int
  private let rowByteCount: Int
  private let indexByteCount: Int

  /// `length` is the size of the indexed axis, `indices` the number of indices per batch, of 2, 4 or 8 bytes
  /// each.
  package init(batches: Int, outer: Int, length: Int, indices: Int, rowByteCount: Int, indexByteCount: Int) {
    self.batches = batches
    self.outer = outer
    self.length = length
    self.indices = indices
    self.rowByteCount = rowByteCount
    self.indexByteCount = indexByteCount
  }

  /// Copies. Returns the first index outside the axis, if any; the output is then incomplete.
  package func run(
    _ input: RawSpan, by positions: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam
  ) -> Int? {
    precondition(
      input.byteCount >= batches * outer * length * rowByteCount
        && positions.byteCount >= batches * indices * indexByteCount
        && output.byteCount >= batches * outer * indices * rowByteCount)
    return unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        var poll = StopPoll(threads)
        for batch in 0..<batches {
          for line in 0..<outer {
            let block = batch &* outer &+ line
            for place in 0..<indices {
              if poll.mustStop(atTurn: place, of: indices, steps: 4 &+ rowByteCount / 16) { return nil }
              let index = positions.integer(at: batch &* indices &+ place, byteCount: indexByteCount)
              guard index >= 0, index < length else { return index }
              guard let from = input.baseAddress, let to = output.baseAddress else { return nil }
              unsafe copyRun(
                from + (block &* length &+ index) &* rowByteCount,
                to + (block &* indices &+ place) &* rowByteCount,
                byteCount: rowByteCount)
            }
          }
        }
        return nil
      }
    }
  }
}

/// Copies a run of bytes; common short widths need no call.
@inline(__always)
func copyRun(_ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer, byteCount: Int) {
  switch byteCount {
  case 1: unsafe destination.storeBytes(of: source.load(as: UInt8.self), as: UInt8.self)
  case 2: unsafe destination.storeBytes(of: source.loadUnaligned(as: UInt16.self), as: UInt16.self)
  case 4: unsafe destination.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
  case 8: unsafe destination.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
  case 16:
    unsafe destination.storeBytes(of: source.loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
  default: unsafe destination.copyMemory(from: source, byteCount: byteCount)
  }
}

extension RawSpan {
  /// The signed integer of 2, 4 or 8 bytes at a position, within the span.
  @inline(__always)
  func integer(at position: Int, byteCount: Int) -> Int {
    switch byteCount {
    case 2: unsafe Int(unsafeLoadUnaligned(fromByteOffset: position &* 2, as: Int16.self))
    case 4: unsafe Int(unsafeLoadUnaligned(fromByteOffset: position &* 4, as: Int32.self))
    default: unsafe Int(unsafeLoadUnaligned(fromByteOffset: position &* 8, as: Int64.self))
    }
  }
}
