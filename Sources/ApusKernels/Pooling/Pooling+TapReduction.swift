// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The operations and constants that generated code needs for a pooling layer.
extension Pooling {
  /// The reductions of the first and of the last stage; throws if no code can compute them.
  var tapReductions: (first: TapReduction.Operation, last: TapReduction.Operation) {
    get throws(Decline) {
      switch (kind, elements) {
      case (.maximum, .float32): return (.greatestFloats, .greatestFloats)
      case (.maximum, .integer(.uint8, _, _)): return (.greatestUnsignedBytes, .greatestUnsignedBytes)
      case (.maximum, .integer(.int8, _, _)): return (.greatestSignedBytes, .greatestSignedBytes)
      case (.average, .float32): return (.sumOfFloats, .sumOfFloats)
      case (.average, .integer(.uint8, _, _)), (.average, .integer(.int8, _, _)):
        for rows in rowTaps.counts {
          for columns in columnTaps.counts where wordMean(taps: rows * columns) == nil {
            throw Decline("means of \(rows * columns) bytes are not made of sums of 16 bits")
          }
        }
        return (isSigned ? .sumOfSignedBytes : .sumOfUnsignedBytes, .sumOfWords)
      default: throw Decline("there is no generated code for the \(kind) of \(elements)")
      }
    }
  }

  /// The maximum number of rows, and of columns, of the input in a window.
  var maximumTaps: (rows: Int, columns: Int) {
    (rowTaps.most, columnTaps.most)
  }

  /// Whether multiplying by the inverse of each window's count is exactly dividing by the count.
  var countsArePowersOfTwo: Bool {
    func arePowersOfTwo(_ counts: [Int]) -> Bool { counts.allSatisfy { $0 & ($0 - 1) == 0 } }
    return arePowersOfTwo(rowTaps.counts) && arePowersOfTwo(columnTaps.counts)
  }

  private var isSigned: Bool { if case .integer(.int8, _, _) = elements { true } else { false } }

  private func wordMean(taps: Int) -> WordMean? { WordMean(count: taps, isSigned: isSigned) }

  /// The arguments that depend on bounds and on the number of taps; the caller fills in the others.
  func arguments(of reduction: TapReduction, taps: Int) -> TapReductionCode.Arguments {
    var arguments = TapReductionCode.Arguments()
    switch (elements, kind) {
    case (.float32(let minimum, let maximum), _):
      (arguments.least, arguments.most) = (minimum.bitPattern, maximum.bitPattern)
      let factor = reduction.result == .product ? 1 / Float(taps) : Float(taps)
      // A maximum starts from the lowest finite number.
      arguments.factor = (kind == .maximum ? -.greatestFiniteMagnitude : factor).bitPattern
    case (.integer(_, let minimum, let maximum), .maximum):
      arguments.least = repeated(byte: minimum)
      arguments.most = repeated(byte: maximum)
    case (.integer(_, let minimum, let maximum), _):
      let offset: Int32 = isSigned ? 128 : 0
      arguments.least = repeated(word: UInt16(truncatingIfNeeded: minimum &+ offset))
      arguments.most = repeated(word: UInt16(truncatingIfNeeded: maximum &+ offset))
      arguments.flip = isSigned ? 0x8080_8080 : 0
      guard let mean = wordMean(taps: taps) else { return arguments }
      arguments.factor = repeated(word: mean.factor)
      arguments.rounding = repeated(word: mean.rounding)
      arguments.halves = repeated(word: mean.halves)
      arguments.shift = (mean.shift, 0)
    }
    return arguments
  }

  private func repeated(byte: Int32) -> UInt32 { UInt32(UInt8(truncatingIfNeeded: byte)) &* 0x0101_0101 }
  private func repeated(word: UInt16) -> UInt32 { UInt32(word) &* 0x1_0001 }
}
