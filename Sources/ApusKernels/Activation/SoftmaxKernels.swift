// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusSystem

/// `e^(βx)` over its sum, row by row.
package enum Softmax {
  /// The kernel for floats, by a kernel set's code if it has any; `isHalf` says that values represent
  /// `float16`, to which the reference rounds exponentials.
  package static func chooseFloats(
    beta: Float, isHalf: Bool, rows: Int, depth: Int, using set: KernelSet
  ) -> KernelSet.Chosen<any UnaryKernel> {
    func kernel(_ code: FloatMapping?) -> any UnaryKernel {
      unsafe UnaryMap(
        FloatSoftmax(beta: beta, isHalf: isHalf, isNarrow: depth <= FloatSoftmax.mostColumns, code: code),
        rows: rows, depth: depth)
    }
    return set.choose(otherwise: kernel(nil)) { set throws(Decline) in
      guard !isHalf else { throw Decline("exponentials are rounded to float16") }
      guard depth > FloatSoftmax.mostColumns else {
        throw Decline(
          "rows of \(depth) floats are no more than \(FloatSoftmax.mostColumns), which are done side by side")
      }
      return unsafe kernel(try set.generatedKernels().floatSoftmax(beta: beta, depth: depth))
    }
  }

  /// The kernel for bytes, in the reference's fixed point, by a kernel set's code if it has any; and why it
  /// was chosen.
  ///
  /// - Parameters:
  ///   - factor: `β` times the scale.
  ///   - isWord: whether the results are `int16` in units of 2⁻¹⁶, minus 2¹⁵; otherwise bytes of the
  ///     argument's type, in units of 2⁻⁸ from its minimum.
  package static func chooseBytes(
    isSigned: Bool, factor: Double, isWord: Bool, rows: Int, depth: Int, using set: KernelSet
  ) -> KernelSet.Chosen<any UnaryKernel> {
    let table = SoftmaxTable(factor: factor)
    func kernel(_ code: ByteSoftmaxMapping?) -> any UnaryKernel {
      if isWord {
        let function = unsafe ByteSoftmax<Int16>(
          table: table, isSigned: isSigned, rows: rows, depth: depth, code: nil)
        return UnaryMap(function, rows: rows, depth: depth)
      }
      if isSigned {
        let function = unsafe ByteSoftmax<Int8>(
          table: table, isSigned: true, rows: rows, depth: depth, code: code)
        return UnaryMap(function, rows: rows, depth: depth)
      }
      let function = unsafe ByteSoftmax<UInt8>(
        table: table, isSigned: false, rows: rows, depth: depth, code: code)
      return UnaryMap(function, rows: rows, depth: depth)
    }
    return set.choose(otherwise: kernel(nil)) { set throws(Decline) in
      guard !isWord else { throw Decline("results are 16-bit integers") }
      guard depth >= leastDepth else {
        throw Decline("rows of \(depth) bytes are shorter than \(leastDepth)")
      }
      let code = try unsafe set.generatedKernels().byteSoftmax(
        exponentials: (0..<256).map { unsafe table.exponentials.values[$0] },
        summands: (0..<256).map { unsafe table.summands.values[255 - $0] }, isSigned: isSigned, depth: depth)
      return unsafe kernel(code)
    }
  }

  /// The minimum length of rows of bytes for which generated code is faster.
  private static let leastDepth = 12

  /// The kernel for `int16`; `factor` is `β` times the scale, results are in units of 2⁻¹⁵.
  package static func words(factor: Double, rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(WordSoftmax(factor: factor), rows: rows, depth: depth)
  }
}

@safe private struct FloatSoftmax: RowFunction {
  let beta: Float
  let isHalf: Bool
  /// Whether rows are computed side by side.
  let isNarrow: Bool
  /// Generated code for whole rows.
  let code: FloatMapping?

  var way: String {
    unsafe code != nil
      ? "generated loop of a vector at a time"
      : isNarrow && !isHalf ? "portable vectors of 8 rows" : "portable vectors of 8 lanes"
  }

  /// The maximum length of rows that are computed side by side.
  static let mostColumns = 16

  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    let greatest = unsafe greatest(input, count)
    var sums = SIMD8<Float>()
    var index = 0
    while index &+ 8 <= count {
      let values = unsafe UnsafeRawPointer(input + index).loadUnaligned(as: SIMD8<Float>.self)
      let powers = ((values - greatest) * beta).exponential
      unsafe UnsafeMutableRawPointer(output + index).storeBytes(of: powers, as: SIMD8<Float>.self)
      sums += powers
      index &+= 8
    }
    let rest = count &- index
    if rest > 0 {
      var values = SIMD8<Float>()
      for lane in 0..<8 where lane < rest { values[lane] = unsafe input[index &+ lane] }
      let powers = ((values - greatest) * beta).exponential
      for lane in 0..<8 where lane < rest {
        unsafe output[index &+ lane] = powers[lane]
        sums[lane] += powers[lane]
      }
    }
    let sum = sums.sum()
    if isHalf {
      for index in 0..<count { unsafe output[index] = output[index].roundedToHalf }
    }
    for index in 0..<count { unsafe output[index] /= sum }
  }

  /// Rows of few elements are computed eight at a time, each in a lane.
  func fill(
    _ output: UnsafeMutablePointer<Float>, rows: Int, depth: Int, input: UnsafePointer<Float>
  ) {
    if let code = unsafe code { return unsafe code(output, rows &* depth, input) }
    var row = 0
    while row < rows {
      let (from, to) = unsafe (input + row &* depth, output + row &* depth)
      if depth > Self.mostColumns || isHalf {
        unsafe fill(to, count: depth, input: from)
        row &+= 1
      } else {
        unsafe fillColumns(to, rows: min(8, rows &- row), depth: depth, input: from)
        row &+= 8
      }
    }
  }

  @inline(__always)
  private func fillColumns(
    _ output: UnsafeMutablePointer<Float>, rows: Int, depth: Int, input: UnsafePointer<Float>
  ) {
    /// The elements of a column; lanes beyond the rows repeat the last one.
    @inline(__always)
    func column(_ values: UnsafePointer<Float>, _ index: Int) -> SIMD8<Float> {
      var result = SIMD8<Float>()
      for lane in 0..<8 { result[lane] = unsafe values[min(lane, rows &- 1) &* depth &+ index] }
      return result
    }
    @inline(__always)
    func store(_ values: SIMD8<Float>, _ index: Int) {
      for lane in 0..<8 where lane < rows { unsafe output[lane &* depth &+ index] = values[lane] }
    }
    var greatest = SIMD8<Float>(repeating: -.greatestFiniteMagnitude)
    for index in 0..<depth {
      let values = unsafe column(input, index)
      greatest.replace(with: values, where: greatest .< values)
    }
    var sums = SIMD8<Float>()
    for index in 0..<depth {
      let powers = unsafe ((column(input, index) - greatest) * beta).exponential
      store(powers, index)
      sums += powers
    }
    for index in 0..<depth { unsafe store(column(UnsafePointer(output), index) / sums, index) }
  }

  /// The maximum of a row; NaN is skipped.
  @inline(__always)
  private func greatest(_ input: UnsafePointer<Float>, _ count: Int) -> Float {
    var most = SIMD8<Float>(repeating: -.greatestFiniteMagnitude)
    var index = 0
    while index &+ 8 <= count {
      let values = unsafe UnsafeRawPointer(input + index).loadUnaligned(as: SIMD8<Float>.self)
      most.replace(with: values, where: most .< values)
      index &+= 8
    }
    var greatest = -Float.greatestFiniteMagnitude
    for lane in 0..<8 { greatest = greatest < most[lane] ? most[lane] : greatest }
    while index < count {
      let value = unsafe input[index]
      greatest = greatest < value ? value : greatest
      index &+= 1
    }
    return greatest
  }
}

/// Computes softmax of rows of bytes from the first on, and returns how many it did; the next row is left to
/// plain Swift.
package typealias ByteSoftmaxMapping =
  @Sendable (_ output: UnsafeMutableRawPointer, _ rows: Int, _ input: UnsafeRawPointer) -> Int

/// The exponentials of all 256 differences from a row's maximum.
private final class SoftmaxTable: Sendable {
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

@safe private struct ByteSoftmax<Result: FixedWidthInteger & BitwiseCopyable & Sendable>: RowFunction {
  let table: SoftmaxTable
  let isSigned: Bool
  /// Generated code for rows.
  private let code: ByteSoftmaxMapping?
  /// The results of the larger and the smaller of two bytes, by their difference, for many rows of two.
  private var pairs: Table<Result>?

  var way: String {
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
    // Signed bytes with their sign flipped are unsigned ones of equal order and equal differences.
    let flip: UInt8 = isSigned ? 0x80 : 0
    var greatest: UInt8 = 0
    for index in 0..<count { greatest = max(greatest, unsafe input[index] ^ flip) }
    // Entries are at 255 minus a difference: from `shift` on, at the byte itself.
    let shift = 255 &- Int(greatest)
    let summands = unsafe table.summands.values + shift
    var sum: Int32 = 0
    unsafe forEachByte(input, count) { _, byte in sum &+= unsafe summands[byte] }
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
    if count >= Self.leastTabled {
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
        unsafe forEachByte(input, count) { index, byte in unsafe output[index] = results[byte] }
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
  private func forEachByte(_ input: UnsafePointer<UInt8>, _ count: Int, _ body: (Int, Int) -> Void) {
    if isSigned {
      for index in 0..<count { body(index, unsafe Int(Int8(bitPattern: input[index])) &+ 128) }
    } else {
      for index in 0..<count { body(index, unsafe Int(input[index])) }
    }
  }

  /// The minimum length of rows whose results are looked up in a table.
  private static var leastTabled: Int { 64 }
}

private struct WordSoftmax: RowFunction {
  private let multiplier: FixedPointMultiplier
  private let exponentials: WordTable
  private let reciprocals: WordTable

  var way: String { "portable tables of 16-bit integers" }

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
    var greatest = Int16.min
    for index in 0..<count { greatest = max(greatest, unsafe input[index]) }
    var sum: Int32 = 0
    for index in 0..<count {
      let difference = unsafe Int32(input[index]) &- Int32(greatest)
      let value = exponentials[Int16(clamping: multiplier.apply(difference) &+ 32767)]
      unsafe output[index] = value
      sum &+= Int32(value)
    }
    let headroom = Int32(sum.leadingZeroBitCount)
    let shifted = (Int64(sum) &<< Int64(headroom &- 1) &+ 1 << 13) &>> 14
    let position = Int32(truncatingIfNeeded: shifted) &- (1 << 15 &+ 1 << 16)
    let scale = Int64(reciprocals[Int16(clamping: position)])
    let shift = Int64(31 &- headroom)
    let round = Int64(1) &<< (shift &- 1)
    for index in 0..<count {
      let result = unsafe Int32(truncatingIfNeeded: (Int64(output[index]) &* scale &+ round) &>> shift)
      unsafe output[index] = Int16(min(max(result, 0), 32767))
    }
  }
}
