// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Selects each element from the first operand if the condition is true, otherwise from the second.
package struct SelectKernel: Sendable {
  private let plan: BroadcastPlan
  private let counts: [Int]
  private let elementByteCount: Int

  /// Plans operands that broadcast to a result; nil unless elements have 1, 2, 4 or 8 bytes.
  package init?(condition: [Int], first: [Int], second: [Int], result: [Int], elementByteCount: Int) {
    guard [1, 2, 4, 8].contains(elementByteCount) else { return nil }
    plan = BroadcastPlan([condition, first, second], to: result)
    counts = [condition, first, second].map { $0.reduce(1, &*) }
    self.elementByteCount = elementByteCount
  }

  /// Computes the result from tensors of the shapes and sizes that the kernel was made for.
  package func run(
    _ condition: RawSpan, _ first: RawSpan, _ second: RawSpan, to output: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    precondition(
      condition.byteCount >= counts[0] && first.byteCount >= counts[1] * elementByteCount
        && second.byteCount >= counts[2] * elementByteCount
        && output.byteCount >= plan.elementCount * elementByteCount)
    guard plan.elementCount > 0 else { return }
    unsafe condition.withUnsafeBytes { condition in
      unsafe first.withUnsafeBytes { first in
        unsafe second.withUnsafeBytes { second in
          unsafe output.withUnsafeMutableBytes { output in
            guard let condition = condition.baseAddress, let first = first.baseAddress,
              let second = second.baseAddress, let output = output.baseAddress
            else { return }
            let work = unsafe Work(
              plan: plan, tiling: plan.tiling(threads), elementByteCount: elementByteCount,
              condition: condition.assumingMemoryBound(to: UInt8.self), first: first, second: second,
              output: output)
            threads.run(tiles: work.tiling.count, work)
          }
        }
      }
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let plan: BroadcastPlan
    let tiling: BroadcastPlan.Tiling
    let elementByteCount: Int
    let condition: UnsafePointer<UInt8>
    let first: UnsafeRawPointer
    let second: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      switch elementByteCount {
      case 1: run(UInt8.self, tile: tile)
      case 2: run(UInt16.self, tile: tile)
      case 4: run(UInt32.self, tile: tile)
      default: run(UInt64.self, tile: tile)
      }
    }

    @inline(__always)
    private func run<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type, tile: Int) {
      let steps = plan.innerSteps
      let first = unsafe first.assumingMemoryBound(to: T.self)
      let second = unsafe second.assumingMemoryBound(to: T.self)
      let output = unsafe output.assumingMemoryBound(to: T.self)
      plan.forEachStretch(inTile: tile, of: tiling) { offsets, position, count in
        let (condition, first, second) = unsafe (
          condition + offsets[0], first + offsets[1], second + offsets[2]
        )
        let target = unsafe output + position
        if steps[0] == 1, steps[1] == 1, steps[2] == 1 {
          unsafe select(condition, 1, first, 1, second, 1, target, count)
        } else {
          unsafe select(condition, steps[0], first, steps[1], second, steps[2], target, count)
        }
      }
    }

    /// Branchless, as truth values may come in any order.
    @inline(__always)
    private func select<T: FixedWidthInteger & UnsignedInteger>(
      _ condition: UnsafePointer<UInt8>, _ conditionStep: Int, _ first: UnsafePointer<T>, _ firstStep: Int,
      _ second: UnsafePointer<T>, _ secondStep: Int, _ target: UnsafeMutablePointer<T>, _ count: Int
    ) {
      for index in 0..<count {
        let mask: T = unsafe condition[index &* conditionStep] != 0 ? .max : 0
        let (one, other) = unsafe (first[index &* firstStep], second[index &* secondStep])
        unsafe target[index] = one & mask | other & ~mask
      }
    }
  }
}
