// SPDX-License-Identifier: Apache-2.0

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

/// Softmax of floats, against the formula in double precision.
@Suite struct SoftmaxTests {
  /// None, and each that is tested.
  static let sets: [KernelSet] = [.portable] + KernelSet.tested

  @Test("rows of any length are right to the last places", arguments: sets)
  func isPrecise(_ set: KernelSet) {
    var random = SeededGenerator(seed: 7)
    for depth in [1, 2, 7, 15, 16, 17, 21, 31, 32, 33, 48, 100, 128, 197, 1001] {
      for (beta, spread) in [(Float(1), Float(3)), (0.125, 100), (2.5, 0.01), (1, 80)] {
        let rows = 5
        let values = (0..<rows * depth).map { _ in Float.random(in: -spread...spread, using: &random) }
        for isInPlace in [false, true] {
          let results = Self.results(values, beta: beta, depth: depth, set, isInPlace: isInPlace)
          var worst = 0.0
          for row in 0..<rows {
            let range = row * depth..<(row + 1) * depth
            let greatest = Double(values[range].max() ?? 0)
            let powers = values[range].map { exp((Double($0) - greatest) * Double(beta)) }
            let sum = powers.reduce(0, +)
            for (power, result) in zip(powers, results[range]) {
              // Subnormal numbers are right to one of theirs.
              let error = max(0, abs(Double(result) - power / sum) - Double(Float.leastNonzeroMagnitude))
              worst = max(worst, error / max(power / sum, Double(Float.leastNonzeroMagnitude)))
            }
          }
          // The distance to the greatest is rounded before the exponential makes its error as many times as great.
          #expect(worst < 2e-7 * (4 + Double(beta * spread)), "\(depth) with \(beta) and \(spread)")
        }
      }
    }
  }

  @Test("the smallest results are right to the last subnormal number", arguments: sets)
  func smallest(_ set: KernelSet) {
    for depth in [2, 5, 16, 20, 64, 130] {
      for step in 0...1100 {
        let distance = Float(step) * 0.1
        var values = [Float](repeating: -distance, count: depth)
        values[depth / 2] = 0
        let power = exp(-Double(distance))
        let sum = 1 + Double(depth - 1) * power
        for (place, result) in Self.results(values, beta: 1, depth: depth, set).enumerated() {
          let exact = (place == depth / 2 ? 1 : power) / sum
          // Three for the exponential, one for the quotient; the sum is rounded as often as it has terms, mostly to either side.
          let ulps = 6 + Double(depth) / 10
          #expect(
            abs(Double(result) - exact) <= ulps * Double(Float(exact).ulp), "\(depth), \(distance): \(result)"
          )
        }
      }
    }
  }

  @Test("infinities and no numbers", arguments: sets)
  func specials(_ set: KernelSet) {
    for depth in [8, 20, 64, 70] {
      for place in [0, 5, depth - 1] {
        var values = [Float](repeating: 1, count: depth)
        values[place] = -.infinity
        var results = Self.results(values, beta: 1, depth: depth, set)
        #expect(results[place] == 0)
        #expect(results.enumerated().allSatisfy { $0 == place || abs($1 * Float(depth - 1) - 1) < 1e-5 })
        values[place] = 200
        results = Self.results(values, beta: 1, depth: depth, set)
        #expect(results.enumerated().allSatisfy { $1 == ($0 == place ? 1 : 0) })
        values[place] = .nan
        results = Self.results(values, beta: 1, depth: depth, set)
        #expect(results.allSatisfy { $0.isNaN })
        values = [Float](repeating: -.infinity, count: depth)
        results = Self.results(values, beta: 1, depth: depth, set)
        #expect(results.allSatisfy { $0.isNaN })
      }
    }
  }

  private static func results(
    _ values: [Float], beta: Float, depth: Int, _ set: KernelSet, isInPlace: Bool = false
  ) -> [Float] {
    let rows = values.count / depth
    let kernel = Softmax.floats(beta: beta, isHalf: false, rows: rows, depth: depth, using: set)
    // The numbers behind the last row must stay.
    var results = isInPlace ? values : [Float](repeating: -1, count: values.count)
    results += [Float](repeating: -7, count: 64)
    let source = isInPlace ? results : values
    _ = unsafe results.withUnsafeMutableBytes { output in
      unsafe source.withUnsafeBytes { input in
        var target = unsafe output.mutableBytes
        let bytes = unsafe isInPlace ? UnsafeRawBufferPointer(output).bytes : input.bytes
        kernel.run(bytes, to: &target, threads: ThreadTeam(count: 1))
      }
    }
    #expect(results.suffix(64).allSatisfy { $0 == -7 })
    return Array(results.dropLast(64))
  }
}
