// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import Foundation
import TestSupport
import Testing

/// Fourier transforms of planes, against their definition.
@Suite struct FourierTransformTests {
  /// Heights and widths.
  private static let sizes = [
    [1, 1], [1, 2], [1, 4], [2, 1], [8, 1], [2, 2], [4, 8], [16, 4], [1, 64], [32, 32],
  ]

  /// `Σ x(r, c)·e^(−2πi(rk/height + cl/width))`.
  private static func result(
    _ plane: [Float], _ place: (row: Int, column: Int), height: Int, width: Int
  ) -> (real: Double, imaginary: Double) {
    var sum = (0.0, 0.0)
    for row in 0..<height {
      for column in 0..<width {
        let turns =
          Double(row * place.row % height) / Double(height)
          + Double(column * place.column % width) / Double(width)
        sum.0 += Double(plane[row * width + column]) * cos(2 * .pi * turns)
        sum.1 -= Double(plane[row * width + column]) * sin(2 * .pi * turns)
      }
    }
    return sum
  }

  // The sums are of up to 1,024 numbers below one, in double precision; the results are floats.
  @Test("each result is the sum that defines it", arguments: sizes, [1, 3])
  func matchesDefinition(size: [Int], threads: Int) throws {
    let (height, width) = (size[0], size[1])
    var random = SeededGenerator(seed: UInt64(height * 100 + width))
    var planes: [[Float]] = []
    for _ in 0..<3 {
      planes.append((0..<height * width).map { _ in Float.random(in: -1...1, using: &random) })
    }
    let transform = PlaneTransform(planes: 3, sizes: (height, width), height: height, width: width)
    var output = [Float](repeating: .nan, count: 3 * height * (width / 2 + 1) * 2)
    let byteCount = try #require(
      PlaneTransform.scratchByteCount(height: height, width: width, threads: threads))
    var scratch = [Double](repeating: .nan, count: byteCount / 8)
    let input = planes.flatMap { $0 }
    var result = output.mutableSpan
    var bytes = result.mutableBytes
    var work = scratch.mutableSpan
    var workBytes = work.mutableBytes
    transform.run(input.span.bytes, to: &bytes, scratch: &workBytes, threads: ThreadTeam(count: threads))
    var place = 0
    for plane in planes {
      for row in 0..<height {
        for column in 0...width / 2 {
          let expected = Self.result(plane, (row, column), height: height, width: width)
          #expect(abs(Double(output[place]) - expected.real) < 1e-5)
          #expect(abs(Double(output[place + 1]) - expected.imaginary) < 1e-5)
          place += 2
        }
      }
    }
  }

  @Test("planes are cut, and filled with zeros")
  func fits() throws {
    // Two rows of three, as one row of two and as four of four.
    let input: [Float] = [1, 2, 3, 4, 5, 6]
    func sums(height: Int, width: Int) throws -> Float {
      let transform = PlaneTransform(planes: 1, sizes: (2, 3), height: height, width: width)
      var output = [Float](repeating: .nan, count: height * (width / 2 + 1) * 2)
      let byteCount = try #require(PlaneTransform.scratchByteCount(height: height, width: width, threads: 1))
      var scratch = [Double](repeating: .nan, count: byteCount / 8)
      var result = output.mutableSpan
      var bytes = result.mutableBytes
      var work = scratch.mutableSpan
      var workBytes = work.mutableBytes
      transform.run(input.span.bytes, to: &bytes, scratch: &workBytes, threads: ThreadTeam(count: 1))
      return output[0]
    }
    #expect(try sums(height: 1, width: 2) == 3)
    #expect(try sums(height: 4, width: 4) == 21)
    #expect(try sums(height: 2, width: 2) == 12)
  }
}
