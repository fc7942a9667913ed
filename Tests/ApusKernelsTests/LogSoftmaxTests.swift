// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The logarithm of softmax of floats, against the formula in double precision.
@Suite struct LogSoftmaxTests {
  /// None, and those of this machine that have code for it.
  static let sets: [KernelSet] =
    [.portable] + KernelSet.supported.filter { (try? $0.generated?.floatLogSoftmax(depth: 100)) != nil }

  @Test("rows of any length are right to the last places", arguments: sets)
  func isPrecise(_ set: KernelSet) throws {
    var random = SeededGenerator(seed: 7)
    for depth in [1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 100, 128, 1_001] {
      for spread in [Float(0.01), 3, 80] {
        let rows = 5
        let values = (0..<rows * depth).map { _ in Float.random(in: -spread...spread, using: &random) }
        for isInPlace in [false, true] {
          let results = try Self.results(values, depth: depth, set, isInPlace: isInPlace)
          var worst = 0.0
          for row in 0..<rows {
            let range = row * depth..<(row + 1) * depth
            let greatest = Double(values[range].max() ?? 0)
            let sum = values[range].map { exp(Double($0) - greatest) }.reduce(0, +)
            for (value, result) in zip(values[range], results[range]) {
              worst = max(worst, abs(Double(result) - (Double(value) - greatest - log(sum))))
            }
          }
          // Differences and the logarithm are rounded, to places of the spread.
          #expect(worst < 2e-7 * Double(4 + spread), "\(depth), \(spread)")
        }
      }
    }
  }

  @Test("infinities and no numbers", arguments: sets)
  func specials(_ set: KernelSet) throws {
    for depth in [8, 20, 64, 70] {
      for place in [0, 5, depth - 1] {
        var values = [Float](repeating: 1, count: depth)
        values[place] = -.infinity
        let results = try Self.results(values, depth: depth, set)
        #expect(results[place] == -.infinity)
        #expect(
          results.enumerated().allSatisfy { $0 == place || abs($1 + log(Float(depth - 1))) < 1e-5 })
        values[place] = .nan
        #expect(try Self.results(values, depth: depth, set).allSatisfy { $0.isNaN })
      }
    }
  }

  @Test(
    "rows whose exponentials sum to more than the reference's 12 bits",
    arguments: [1_000, 4_096, 9_000, 200_000])
  func bytesOfLongRows(depth: Int) throws {
    let scale: Float = 1 / 64
    var random = SeededGenerator(seed: 9)
    let values = (0..<depth).map { _ in UInt8.random(in: 128...255, using: &random) }
    let greatest = Double(values.max() ?? 0)
    let sum = values.map { exp((Double($0) - greatest) * Double(scale)) }.reduce(0, +)
    let kernel = LogSoftmax.bytes(isSigned: false, scale: scale, rows: 1, depth: depth)
    var output = [UInt8](repeating: 0xAB, count: depth)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    kernel.run(values.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
    for (value, result) in zip(values, output) {
      // In units of 1/16 below 255.
      let exact = 255 + 16 * ((Double(value) - greatest) * Double(scale) - log(sum))
      #expect(abs(Double(result) - exact) < 0.51)
    }
  }

  private static func results(
    _ values: [Float], depth: Int, _ set: KernelSet, isInPlace: Bool = false
  ) throws -> [Float] {
    let kernel = LogSoftmax.floats(rows: values.count / depth, depth: depth, using: set)
    let input = try #require(GuardedMemory(values.withUnsafeBytes { unsafe Array($0) }))
    let output = try #require(GuardedMemory(count: 4 * values.count, repeating: 0xAB))
    let target = isInPlace ? input : output
    var bytes = unsafe target.bytes.mutableBytes
    kernel.run(
      unsafe UnsafeRawBufferPointer(input.bytes).bytes, to: &bytes, threads: ThreadTeam(count: 1))
    return unsafe Array(target.bytes.bindMemory(to: Float.self))
  }
}
