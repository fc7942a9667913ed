// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Chains touch nothing beside their tensors and their memory, whatever is left over of vectors.
@Suite("Chains between guarded pages")
struct GuardedChainTests {
  private static let sets = KernelSet.tested.filter { !$0.isEmulated }

  private func run(_ chain: Chain, _ tensors: [[UInt8]], byteCount: Int) throws -> [UInt8] {
    let inputs = try tensors.map { try #require(GuardedMemory($0)) }
    let output = try #require(GuardedMemory(count: byteCount, repeating: 0xAB))
    let scratch = try #require(GuardedMemory(count: chain.scratchByteCount(threads: 1), repeating: 0xCD))
    var addresses = ChainInputs()
    for input in inputs { addresses.add(unsafe UnsafeRawBufferPointer(input.bytes).bytes) }
    var result = unsafe output.bytes.mutableBytes
    var memory = unsafe scratch.bytes.mutableBytes
    withExtendedLifetime(inputs) {
      chain.run(addresses, to: &result, scratch: &memory, threads: ThreadTeam(count: 1))
    }
    return unsafe Array(output.bytes)
  }

  private func bytes(_ values: [Float]) -> [UInt8] { unsafe values.withUnsafeBytes { Array($0) } }

  @Test("bytes by way of floats, any number of them", arguments: sets)
  func conversions(kernels: KernelSet) throws {
    let alone = ThreadTeam(count: 1)
    for count in Array(1...70) + [127, 1024, 1025, 2000] {
      let values = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let factors = (0..<count).map { Float($0 % 13) / 4 - 1.5 }
      let first = Dequantization(scale: 0.07, zeroPoint: 3).bytes(
        isSigned: false, count: count, using: kernels)
      let second = FloatFunction.tanh.choose(count: count, using: kernels).kernel
      let shapes = try #require(BroadcastShapes([count], [count]))
      let third = kernels.prepare(FloatOperation(.multiply), shapes)
      let last = FloatQuantization(scale: 0.011, zeroPoint: 128, range: 0...255).bytes(
        count: count, using: kernels)
      let stages = [first.stage, second.stage, third.stage, last.stage].compactMap { $0 }
      let sources: [[Chain.Source]] = [
        [.tensor(0)], [.stage(0)], [.stage(1), .tensor(1)], [.stage(2)],
      ]
      let chain = try Chain(
        zip(stages, sources).map { (stage: $0, sources: $1) }, tensorCount: 2,
        using: kernels)
      var floats = [Float](repeating: 0, count: count)
      var expected = [UInt8](repeating: 0, count: count)
      do {
        var (reals, bent) = (floats, floats)
        var span = reals.mutableSpan
        var room = span.mutableBytes
        first.run(values.span.bytes, to: &room, threads: alone)
        var other = bent.mutableSpan
        var otherRoom = other.mutableBytes
        second.run(reals.span.bytes, to: &otherRoom, threads: alone)
        var products = floats.mutableSpan
        var productRoom = products.mutableBytes
        third.run(bent.span.bytes, factors.span.bytes, to: &productRoom, threads: alone)
        var results = expected.mutableSpan
        var resultRoom = results.mutableBytes
        last.run(floats.span.bytes, to: &resultRoom, threads: alone)
      }
      #expect(try run(chain, [values, bytes(factors)], byteCount: count) == expected, "\(count)")
    }
  }

  @Test("rows and their means", arguments: sets)
  func rows(kernels: KernelSet) throws {
    for (rows, depth) in [(1, 16), (3, 16), (7, 32), (2, 48), (90, 64), (5, 20), (9, 768)] {
      let x = (0..<rows * depth).map { index -> Float in Float(index * 7 % 31) / 8 - 2 }
      let gamma = (0..<depth).map { Float($0 % 5) - 1 }
      let narrow = try #require(BroadcastShapes([rows, depth], [rows, 1]))
      let row = try #require(BroadcastShapes([rows, depth], [depth]))
      let mean = try #require(
        Reduction(dimensions: [rows, depth], isFolded: [false, true]).stage(.sum, divisor: depth))
      let difference = try #require(kernels.prepare(FloatOperation(.subtract), narrow).stage)
      let product = try #require(kernels.prepare(FloatOperation(.multiply), row).stage)
      let chain = try Chain(
        [
          (mean, [.tensor(0)]), (difference, [.tensor(0), .stage(0)]),
          (product, [.stage(1), .tensor(1)]),
        ], tensorCount: 2, using: kernels)
      let found = try run(chain, [bytes(x), bytes(gamma)], byteCount: 4 * rows * depth)
      let expected = x.indices.map { index -> Float in
        let start = index / depth * depth
        let mean: Float = x[start..<start + depth].reduce(0, +) / Float(depth)
        return (x[index] - mean) * gamma[index % depth]
      }
      let results = unsafe found.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
      #expect(zip(results, expected).allSatisfy { abs($0 - $1) < 1e-4 }, "\(rows)×\(depth)")
    }
  }
}
