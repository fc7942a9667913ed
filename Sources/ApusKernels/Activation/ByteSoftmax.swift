// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Computes softmax of rows of bytes from the first on, and returns how many it did; the next row is left to
/// plain Swift.
package typealias ByteSoftmaxMapping =
  @Sendable (_ output: UnsafeMutableRawPointer, _ rows: Int, _ input: UnsafeRawPointer) -> Int

/// The exponentials of all 256 differences from a row's maximum.
final class SoftmaxTable: Sendable {
  /// `e^(−factor·d)` as Q0, by the difference `d`.
  let exponentials: Table<Int32>
  /// The exponentials with 12 bits before the binary point, for sums, from the last to the first.
  let summands: Table<Int32>
  /// The first difference whose exponential counts as zero.
  let end: Int

  init(factor: Double) {
    // With the maximum factor, only the maximum contributes.
    let multiplier = FixedPointMultiplier(min(factor * 0x1p26, 0x1p31 - 1))
    let radius = 31.0 * 0x1p26 / Double(sign: .plus, exponent: Int(multiplier.shift), significand: 1)
    let end = min(256, Int(radius.rounded(.down)) + 1)
    let exponentials = Table(count: 256) { difference in
      difference < end ? FixedPointFunctions.exponential(multiplier.apply(0 &- Int32(difference))) : 0
    }
    self.end = end
    self.exponentials = exponentials
    summands = Table(count: 256) {
      unsafe roundingDivideByPowerOfTwo(exponentials.values[255 - $0], 12)
    }
  }
}

/// `e^(βx)` over its sum for rows of bytes, by the exponentials of all differences.
@safe struct ByteSoftmax<Result: FixedWidthInteger & BitwiseCopyable & Sendable>: RowFunction {
  let table: SoftmaxTable
  let isSigned: Bool
  /// Generated code for rows.
  private let code: ByteSoftmaxMapping?
  /// The results of the larger and the smaller of two bytes, by their difference, for many rows of two.
  private var pairs: Table<Result>?

  var loopDescription: String {
    unsafe code != nil
      ? "generated look-up of 64 bytes at a time"
      : pairs == nil ? "portable table of exponentials" : "portable table of all pairs"
  }

  init(table: SoftmaxTable, isSigned: Bool, rows: Int, depth: Int, code: ByteSoftmaxMapping?) {
    self.table = table
    self.isSigned = isSigned
    unsafe self.code = code
    guard depth == 2, rows >= 1024 else { return }
    let plain = self
    pairs = Table(count: 512) { place in
      // As bytes of the type: the maximum, and one that is smaller by the difference.
      let flip: UInt8 = isSigned ? 0x80 : 0
      let bytes: [UInt8] = [255 ^ flip, UInt8(255 - place / 2) ^ flip]
      var results: [Result] = [0, 0]
      unsafe results.withUnsafeMutableBufferPointer { results in
        unsafe bytes.withUnsafeBufferPointer { bytes in
          guard let input = bytes.baseAddress, let output = results.baseAddress else { return }
          unsafe plain.fill(output, count: 2, input: input)
        }
      }
      return results[place % 2]
    }
  }

  func fill(_ output: UnsafeMutablePointer<Result>, rows: Int, depth: Int, input: UnsafePointer<UInt8>) {
    guard let pairs else {
      var row = 0
      while row < rows {
        if let code = unsafe code {
          unsafe row &+= code(output + row &* depth, rows &- row, input + row &* depth)
          guard row < rows else { return }
        }
        unsafe fill(output + row &* depth, count: depth, input: input + row &* depth)
        row &+= 1
      }
      return
    }
    let flip: UInt8 = isSigned ? 0x80 : 0
    for row in 0..<rows {
      let (first, second) = unsafe (input[2 &* row] ^ flip, input[2 &* row &+ 1] ^ flip)
      let isLess = first < second
      let pair = unsafe pairs.values + 2 &* Int(isLess ? second &- first : first &- second)
      unsafe output[2 &* row] = pair[isLess ? 1 : 0]
      unsafe output[2 &* row &+ 1] = pair[isLess ? 0 : 1]
    }
  }

  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<UInt8>) {
    let greatest = unsafe greatest(input, 0..<count, besides: 0)
    unsafe fill(output, count: count, input: input, greatest, sum: sum(input, 0..<count, greatest)) {
      $0(0..<count)
    }
  }

  static var hasLongRows: Bool { true }

  func fillLong(
    _ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<UInt8>, poll: inout StopPoll
  ) {
    if count <= longestGeneratedRow, let code = unsafe code, unsafe code(output, 1, input) == 1 { return }
    var greatest: UInt8 = 0
    forEachPiece(of: count, &poll) { greatest = unsafe self.greatest(input, $0, besides: greatest) }
    var sum: Int32 = 0
    forEachPiece(of: count, &poll) { sum &+= unsafe self.sum(input, $0, greatest) }
    // If the run was stopped, the sum may be 0, which has no reciprocal.
    if poll.mustStop(before: 1) { return }
    unsafe fill(output, count: count, input: input, greatest, sum: sum) { write in
      forEachPiece(of: count, &poll, write)
    }
  }

  /// The maximum of some bytes, and of `least`: signed bytes with their sign flipped are unsigned ones of equal order and equal
  /// differences.
  @inline(__always)
  private func greatest(_ input: UnsafePointer<UInt8>, _ range: Range<Int>, besides least: UInt8) -> UInt8 {
    let flip: UInt8 = isSigned ? 0x80 : 0
    var greatest = least
    for index in range { greatest = max(greatest, unsafe input[index] ^ flip) }
    return greatest
  }

  /// The sum of some exponentials. Entry `i` is for the difference `255 − i`; offset by `255 − greatest`, the table is indexed by
  /// the byte.
  @inline(__always)
  private func sum(_ input: UnsafePointer<UInt8>, _ range: Range<Int>, _ greatest: UInt8) -> Int32 {
    let summands = unsafe table.summands.values + (255 &- Int(greatest))
    var sum: Int32 = 0
    unsafe forEachByte(input, range) { _, byte in sum &+= unsafe summands[byte] }
    return sum
  }

  /// Writes a row, given its maximum and sum. A long row is written by a table: `inPieces` is given the function that writes a range, and
  /// calls it for all ranges.
  @inline(__always)
  private func fill(
    _ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<UInt8>, _ greatest: UInt8,
    sum: Int32, inPieces: ((Range<Int>) -> Void) -> Void
  ) {
    let flip: UInt8 = isSigned ? 0x80 : 0
    let shift = 255 &- Int(greatest)
    let (scale, bits) = FixedPointFunctions.reciprocal(sum, integerBits: 12)
    // Only an overflowed sum, of more than 4096 elements, exceeds these bounds.
    let exponent = min(max(bits &+ 31 &- Int32(Result.bitWidth), 0), 31)
    let exponentials = unsafe table.exponentials.values
    let end = table.end
    // Four at a time; beyond the end, exponentials are zero.
    let factors = SIMD4(repeating: UInt32(bitPattern: scale))
    let (exponents, masks) = (SIMD4(repeating: exponent), SIMD4(repeating: Int32(1) &<< exponent &- 1))
    @inline(__always)
    func results(_ differences: (Int) -> UInt8) -> SIMD4<Int32> {
      var values = SIMD4<Int32>()
      for lane in 0..<4 { values[lane] = unsafe exponentials[Int(differences(lane))] }
      return roundingDivideByPowerOfTwo(
        roundingDoublingHighMultiply(values, factors), exponents, masks)
    }
    if count >= Self.minimumTabled {
      // The results of all differences, from the last to the first; from some difference on they are zero.
      return unsafe withUnsafeTemporaryAllocation(of: Result.self, capacity: 256) { memory in
        guard let table = memory.baseAddress else { return }
        unsafe table.update(repeating: .min, count: 256)
        for first in stride(from: 0, to: 256, by: 4) {
          let quotients = results { UInt8(truncatingIfNeeded: first &+ $0) }
          if quotients == .zero { break }
          for lane in 0..<4 {
            unsafe table[255 &- first &- lane] = Result(clamping: quotients[lane] &+ Int32(Result.min))
          }
        }
        let results = unsafe table + shift
        inPieces { range in
          unsafe forEachByte(input, range) { index, byte in unsafe output[index] = results[byte] }
        }
      }
    }
    var first = 0
    while first &+ 4 <= count {
      let quotients = results { unsafe greatest &- (input[first &+ $0] ^ flip) }
      for lane in 0..<4 {
        unsafe output[first &+ lane] = Result(clamping: quotients[lane] &+ Int32(Result.min))
      }
      first &+= 4
    }
    for index in first..<count {
      let difference = unsafe Int(greatest &- (input[index] ^ flip))
      var result = Int32(Result.min)
      if difference < end {
        let product = unsafe saturatingRoundingDoublingHighMultiply(scale, exponentials[difference])
        result &+= roundingDivideByPowerOfTwo(product, exponent)
      }
      unsafe output[index] = Result(clamping: result)
    }
  }

  /// Calls `body` with each index and its byte, as an unsigned one of equal order.
  @inline(__always)
  private func forEachByte(
    _ input: UnsafePointer<UInt8>, _ range: Range<Int>, _ body: (Int, Int) -> Void
  ) {
    if isSigned {
      for index in range { body(index, unsafe Int(Int8(bitPattern: input[index])) &+ 128) }
    } else {
      for index in range { body(index, unsafe Int(input[index])) }
    }
  }

  /// The minimum length of rows whose results are looked up in a table.
  private static var minimumTabled: Int { 64 }
}
