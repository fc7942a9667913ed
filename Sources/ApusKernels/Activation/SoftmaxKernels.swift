// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime
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
        FloatSoftmax(beta: beta, isHalf: isHalf, isNarrow: depth <= FloatSoftmax.maximumColumns, code: code),
        rows: rows, depth: depth)
    }
    return set.choose(otherwise: kernel(nil)) { set throws(Decline) in
      guard !isHalf else { throw Decline("exponentials are rounded to float16") }
      guard depth > FloatSoftmax.maximumColumns else {
        throw Decline(
          "rows of \(depth) floats are no more than \(FloatSoftmax.maximumColumns), which are done side by side"
        )
      }
      guard depth <= longestGeneratedRow else { throw Decline(longRow: depth) }
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
      guard depth >= minimumDepth else {
        throw Decline("rows of \(depth) bytes are shorter than \(minimumDepth)")
      }
      let code = try unsafe set.generatedKernels().byteSoftmax(
        exponentials: (0..<256).map { unsafe table.exponentials.values[$0] },
        summands: (0..<256).map { unsafe table.summands.values[255 - $0] }, isSigned: isSigned, depth: depth)
      return unsafe kernel(code)
    }
  }

  /// The minimum length of rows of bytes for which generated code is faster.
  private static let minimumDepth = 12

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

  var loopDescription: String {
    unsafe code != nil
      ? "generated loop of a vector at a time"
      : isNarrow && !isHalf ? "portable vectors of 8 rows" : "portable vectors of 8 lanes"
  }

  /// The maximum length of rows that are computed side by side.
  static let maximumColumns = 16

  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    let greatest = unsafe greatest(input, 0..<count, besides: -.greatestFiniteMagnitude)
    var sums = SIMD8<Float>()
    unsafe raise(output, input, 0..<count, greatest, addingTo: &sums)
    unsafe divide(output, 0..<count, sums.sum())
  }

  static var hasLongRows: Bool { true }

  func fillLong(
    _ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>, poll: inout StopPoll
  ) {
    if let code = unsafe code { return unsafe code(output, count, input) }
    var greatest = -Float.greatestFiniteMagnitude
    forEachPiece(of: count, &poll) { greatest = unsafe self.greatest(input, $0, besides: greatest) }
    var sums = SIMD8<Float>()
    forEachPiece(of: count, &poll) { unsafe raise(output, input, $0, greatest, addingTo: &sums) }
    let sum = sums.sum()
    forEachPiece(of: count, &poll) { unsafe divide(output, $0, sum) }
  }

  /// Writes exponentials of differences from the maximum, and adds each to the sum of its lane.
  @inline(__always)
  private func raise(
    _ output: UnsafeMutablePointer<Float>, _ input: UnsafePointer<Float>, _ range: Range<Int>,
    _ greatest: Float, addingTo sums: inout SIMD8<Float>
  ) {
    var index = range.lowerBound
    while index &+ 8 <= range.upperBound {
      let values = unsafe UnsafeRawPointer(input + index).loadUnaligned(as: SIMD8<Float>.self)
      let powers = ((values - greatest) * beta).exponential
      unsafe UnsafeMutableRawPointer(output + index).storeBytes(of: powers, as: SIMD8<Float>.self)
      sums += powers
      index &+= 8
    }
    let rest = range.upperBound &- index
    if rest > 0 {
      var values = SIMD8<Float>()
      for lane in 0..<8 where lane < rest { values[lane] = unsafe input[index &+ lane] }
      let powers = ((values - greatest) * beta).exponential
      for lane in 0..<8 where lane < rest {
        unsafe output[index &+ lane] = powers[lane]
        sums[lane] += powers[lane]
      }
    }
  }

  @inline(__always)
  private func divide(_ output: UnsafeMutablePointer<Float>, _ range: Range<Int>, _ sum: Float) {
    if isHalf {
      for index in range { unsafe output[index] = output[index].roundedToHalf }
    }
    for index in range { unsafe output[index] /= sum }
  }

  /// Rows of few elements are computed eight at a time, each in a lane.
  func fill(
    _ output: UnsafeMutablePointer<Float>, rows: Int, depth: Int, input: UnsafePointer<Float>
  ) {
    if let code = unsafe code { return unsafe code(output, rows &* depth, input) }
    var row = 0
    while row < rows {
      let (from, to) = unsafe (input + row &* depth, output + row &* depth)
      if depth > Self.maximumColumns || isHalf {
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

  /// The maximum of some values, and of `least`; NaN is skipped.
  @inline(__always)
  private func greatest(_ input: UnsafePointer<Float>, _ range: Range<Int>, besides least: Float) -> Float {
    var most = SIMD8<Float>(repeating: -.greatestFiniteMagnitude)
    var index = range.lowerBound
    while index &+ 8 <= range.upperBound {
      let values = unsafe UnsafeRawPointer(input + index).loadUnaligned(as: SIMD8<Float>.self)
      most.replace(with: values, where: most .< values)
      index &+= 8
    }
    var greatest = least
    for lane in 0..<8 { greatest = greatest < most[lane] ? most[lane] : greatest }
    while index < range.upperBound {
      let value = unsafe input[index]
      greatest = greatest < value ? value : greatest
      index &+= 1
    }
    return greatest
  }
}
