// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension PostOperation {
  /// The function as a standalone kernel for `count` floats.
  package func kernel(count: Int) -> any UnaryKernel { PostOperationKernel(operation: self, count: count) }
}

/// Copies floats piece by piece, and applies the operation to each piece while it is in the cache.
private struct PostOperationKernel: UnaryKernel {
  let operation: PostOperation
  let count: Int

  private static let loopDescription = "copies of \(PostOperation.stretch) floats, changed in place"
  var implementation: String { Self.loopDescription }

  var stage: ChainStage? {
    unsafe ChainStage(
      fill: { output, count, input, _, _, _ in unsafe Self.copy(output, input, count: count) },
      loopDescription: Self.loopDescription, tail: operation,
      formula: operation.floatFunction.flatMap { FloatFormula($0) },
      operands: [.init(period: count, stride: 4)], elementCount: count, stride: 4, mayOverwrite: true)
  }

  var mayOverwrite: Bool { true }

  /// Input and output may be the same memory.
  private static func copy(_ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, count: Int) {
    if unsafe input != UnsafeRawPointer(output) {
      unsafe output.copyMemory(from: input, byteCount: count &* 4)
    }
  }

  func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(input.byteCount >= count * 4 && output.byteCount >= count * 4)
    guard count > 0 else { return }
    unsafe withAddresses(input, &output) { input, output in
      let length = roundedUp(
        threads.tileLength(count, least: 1 << 12, most: 1 << 15), to: PostOperation.stretch)
      let work = unsafe Work(kernel: self, length: length, input: input, output: output)
      threads.run(tiles: ceilingQuotient(count, length), work)
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let kernel: PostOperationKernel
    let length: Int
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      var first = tile &* length
      let end = min(first &+ length, kernel.count)
      while first < end {
        let part = min(PostOperation.stretch, end &- first)
        let target = unsafe output + 4 &* first
        unsafe PostOperationKernel.copy(target, input + 4 &* first, count: part)
        unsafe kernel.operation.apply(
          to: target.assumingMemoryBound(to: Float.self), position: first, count: part)
        first &+= part
      }
    }
  }
}
