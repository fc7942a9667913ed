// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// `e^(βx)` over its sum for rows of `int16`, by tables of exponentials and reciprocals.
struct WordSoftmax: RowFunction {
  private let multiplier: FixedPointMultiplier
  private let exponentials: WordTable
  private let reciprocals: WordTable

  var loopDescription: String { "portable tables of 16-bit integers" }

  init(factor: Double) {
    // A difference of 65535 is 10, beyond which exponentials count as zero.
    multiplier = FixedPointMultiplier(factor / (10.0 / 65535.0))
    let unit = 2.0 / 65535.0
    exponentials = WordTable(
      inputScale: 10.0 / 65535.0, inputZeroPoint: 32767, outputScale: unit, outputZeroPoint: 0
    ) { exp($0) }
    reciprocals = WordTable(
      inputScale: 1.0 / 65535.0, inputZeroPoint: -32768, outputScale: unit, outputZeroPoint: 0
    ) { 1 / (1 + $0) }
  }

  func fill(_ output: UnsafeMutablePointer<Int16>, count: Int, input: UnsafePointer<Int16>) {
    let greatest = unsafe greatest(input, 0..<count, besides: .min)
    let sum = unsafe raise(output, input, 0..<count, greatest)
    unsafe scale(output, 0..<count, sum)
  }

  static var hasLongRows: Bool { true }

  func fillLong(
    _ output: UnsafeMutablePointer<Int16>, count: Int, input: UnsafePointer<Int16>, poll: inout StopPoll
  ) {
    var greatest = Int16.min
    forEachPiece(of: count, &poll) { greatest = unsafe self.greatest(input, $0, besides: greatest) }
    var sum: Int32 = 0
    forEachPiece(of: count, &poll) { sum &+= unsafe raise(output, input, $0, greatest) }
    forEachPiece(of: count, &poll) { unsafe scale(output, $0, sum) }
  }

  @inline(__always)
  private func greatest(_ input: UnsafePointer<Int16>, _ range: Range<Int>, besides least: Int16) -> Int16 {
    var greatest = least
    for index in range { greatest = max(greatest, unsafe input[index]) }
    return greatest
  }

  /// Writes exponentials of differences from the maximum, and returns their sum.
  @inline(__always)
  private func raise(
    _ output: UnsafeMutablePointer<Int16>, _ input: UnsafePointer<Int16>, _ range: Range<Int>,
    _ greatest: Int16
  ) -> Int32 {
    var sum: Int32 = 0
    for index in range {
      let difference = unsafe Int32(input[index]) &- Int32(greatest)
      let value = exponentials[Int16(clamping: multiplier.apply(difference) &+ 32767)]
      unsafe output[index] = value
      sum &+= Int32(value)
    }
    return sum
  }

  /// Divides exponentials by their sum.
  @inline(__always)
  private func scale(_ output: UnsafeMutablePointer<Int16>, _ range: Range<Int>, _ sum: Int32) {
    let headroom = Int32(sum.leadingZeroBitCount)
    let shifted = (Int64(sum) &<< Int64(headroom &- 1) &+ 1 << 13) &>> 14
    let position = Int32(truncatingIfNeeded: shifted) &- (1 << 15 &+ 1 << 16)
    let scale = Int64(reciprocals[Int16(clamping: position)])
    let shift = Int64(31 &- headroom)
    let round = Int64(1) &<< (shift &- 1)
    for index in range {
      let result = unsafe Int32(truncatingIfNeeded: (Int64(output[index]) &* scale &+ round) &>> shift)
      unsafe output[index] = Int16(min(max(result, 0), 32767))
    }
  }
}
