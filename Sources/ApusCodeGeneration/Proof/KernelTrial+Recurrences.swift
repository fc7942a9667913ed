// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

extension KernelTrial {
  /// Steps of recurrent layers: on bytes, and what follows the products of floats.
  static let recurrences: [KernelTrial] =
    [
      KernelTrial(name: "gates of a recurrent layer of int8", isFloat: false) { set throws(Decline) in
        let code = try code(set)
        var words = values(rows, seed: 28)
        var span = words.mutableSpan
        let (matrix, vector) = (signed(rows * depth, seed: 29), signed(depth, seed: 30))
        let bias = (0..<rows).map { Int32($0 * 977 - 30_000) }
        RecurrentProducts.add(
          matrix.span, vector.span, bias: bias.span, FixedPointMultiplier(0.21), to: &span, using: code)
        return bytes(of: words)
      },
      KernelTrial(name: "the logistic function of int16", isFloat: false) { set throws(Decline) in
        let code = try code(set)
        var words = values(rows, seed: 31)
        var span = words.mutableSpan
        RecurrentWords.applyLogistic(&span, using: code)
        return bytes(of: words)
      },
    ]
    + tangentBits.map { bits in
      KernelTrial(name: "the hyperbolic tangent of int16 with \(bits) integer bits", isFloat: false) {
        set throws(Decline) in
        let code = try code(set)
        var words = values(rows, seed: 32)
        var span = words.mutableSpan
        RecurrentWords.applyTanh(&span, integerBits: bits, using: code)
        return KernelTrial.bytes(of: words)
      }
    } + [
      KernelTrial(name: "the cells of a recurrent layer of floats", isFloat: true) { set throws(Decline) in
        let cells = LSTMCells(
          count: cellCount, hasInputGate: true, activation: .tanh, clip: 1.5, clampsSums: true, using: set)
        return output(4 * 2 * cellCount) { output, _, threads in
          var (sums, memory) = (floats(4 * cellCount, seed: 33), floats(cellCount, seed: 34))
          var results = [Float](repeating: 0, count: cellCount)
          let inputs = floats(4 * cellCount, seed: 35)
          var sumSpan = sums.mutableSpan
          var cellSpan = memory.mutableSpan
          var resultSpan = results.mutableSpan
          cells.run(&sumSpan, adding: inputs.span, cells: &cellSpan, outputs: &resultSpan, threads: threads)
          for (index, value) in (memory + results).enumerated() {
            output.storeBytes(of: value, toByteOffset: 4 * index, as: Float.self)
          }
        }
      }
    ]

  /// The integer bits of the fixed-point arguments of hyperbolic tangents.
  private static let tangentBits = [0, 3, 6]
  /// Rows and depth of a gate's matrix, which leave a rest of any vector, and the cells of a layer of floats.
  private static let (rows, depth, cellCount) = (75, 93, 53)

  /// The set's code; nil for plain Swift.
  private static func code(_ set: KernelSet) throws(Decline) -> RecurrentCode? {
    guard let kernels = set.generated else { return nil }
    return try kernels.recurrence(tangentBits: tangentBits, wordCount: rows)
  }

  private static func values(_ count: Int, seed: UInt64) -> [Int16] {
    let bytes = bytes(2 * count, seed: seed)
    return (0..<count).map { Int16(bitPattern: UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1])) }
  }

  private static func signed(_ count: Int, seed: UInt64) -> [Int8] {
    bytes(count, seed: seed).map { Int8(bitPattern: $0) }
  }

  private static func floats(_ count: Int, seed: UInt64) -> [Float] {
    bytes(count, seed: seed).map { (Float($0) - 128) / 32.3 }
  }

  private static func bytes(of words: [Int16]) -> [UInt8] {
    words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }
}
