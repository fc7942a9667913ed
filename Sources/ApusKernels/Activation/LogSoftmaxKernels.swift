// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime
import ApusSystem

/// The logarithm of SOFTMAX, row by row.
package enum LogSoftmax {
  /// The kernel for floats, by a kernel set's code if it has any.
  package static func chooseFloats(
    rows: Int, depth: Int, using set: KernelSet
  ) -> KernelSet.Chosen<any UnaryKernel> {
    unsafe set.choose(
      otherwise: UnaryMap(FloatLogSoftmax(code: nil), rows: rows, depth: depth)
    ) { set throws(Decline) in
      guard depth <= longestGeneratedRow else { throw Decline(longRow: depth) }
      let code = try unsafe set.generatedKernels().floatLogSoftmax(depth: depth)
      return unsafe UnaryMap(FloatLogSoftmax(code: code), rows: rows, depth: depth)
    }
  }

  /// The kernel for bytes; results are in units of 1/16 below the type's maximum.
  package static func bytes(isSigned: Bool, scale: Float, rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(ByteLogSoftmax(isSigned: isSigned, scale: scale), rows: rows, depth: depth)
  }
}

@safe private struct FloatLogSoftmax: RowFunction {
  /// Generated code for whole rows.
  let code: FloatMapping?

  var loopDescription: String {
    unsafe code != nil ? "generated loop of a vector at a time" : "portable loop"
  }

  func fill(
    _ output: UnsafeMutablePointer<Float>, rows: Int, depth: Int, input: UnsafePointer<Float>
  ) {
    if let code = unsafe code { return unsafe code(output, rows &* depth, input) }
    for row in 0..<rows {
      unsafe fill(output + row &* depth, count: depth, input: input + row &* depth)
    }
  }

  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    let greatest = unsafe greatest(input, 0..<count, besides: -.greatestFiniteMagnitude)
    var sums = SIMD8<Float>()
    unsafe add(input, 0..<count, greatest, to: &sums)
    let logarithm = logf(sums.sum())
    for index in 0..<count { unsafe output[index] = input[index] - greatest - logarithm }
  }

  static var hasLongRows: Bool { true }

  func fillLong(
    _ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>, poll: inout StopPoll
  ) {
    if let code = unsafe code { return unsafe code(output, count, input) }
    var greatest = -Float.greatestFiniteMagnitude
    forEachPiece(of: count, &poll) { greatest = unsafe self.greatest(input, $0, besides: greatest) }
    var sums = SIMD8<Float>()
    forEachPiece(of: count, &poll) { unsafe add(input, $0, greatest, to: &sums) }
    let logarithm = logf(sums.sum())
    forEachPiece(of: count, &poll) {
      for index in $0 { unsafe output[index] = input[index] - greatest - logarithm }
    }
  }

  @inline(__always)
  private func greatest(_ input: UnsafePointer<Float>, _ range: Range<Int>, besides least: Float) -> Float {
    var greatest = least
    for index in range {
      let value = unsafe input[index]
      greatest = greatest < value ? value : greatest
    }
    return greatest
  }

  /// Adds exponentials of differences from the maximum, each to the sum of its lane.
  @inline(__always)
  private func add(
    _ input: UnsafePointer<Float>, _ range: Range<Int>, _ greatest: Float, to sums: inout SIMD8<Float>
  ) {
    var first = range.lowerBound
    while first < range.upperBound {
      // Lanes beyond the row contribute zero.
      var values = SIMD8<Float>(repeating: -.infinity)
      if first &+ 8 <= range.upperBound {
        values = unsafe UnsafeRawPointer(input + first).loadUnaligned(as: SIMD8<Float>.self)
      } else {
        for lane in 0..<8 where first &+ lane < range.upperBound {
          values[lane] = unsafe input[first &+ lane]
        }
      }
      sums += (values - greatest).exponential
      first &+= 8
    }
  }
}

/// The reference's fixed point: differences and logarithms have five bits before the binary point, sums twelve.
private struct ByteLogSoftmax: RowFunction {
  private let isSigned: Bool
  /// Differences from a row's maximum as Q5, negated.
  private let differences: Table<Int32>
  /// Their exponentials as Q12, zero beyond the last that counts.
  private let summands: Table<Int32>
  private let minimumDifference: Int32
  private let inverse: FixedPointMultiplier

  init(isSigned: Bool, scale: Float) {
    self.isSigned = isSigned
    let multiplier = FixedPointMultiplier(min(Double(scale) * 0x1p26, 0x1p31 - 1))
    let power = Double(sign: .plus, exponent: Int(multiplier.shift), significand: 1)
    let radius = Int32((31.0 * 0x1p26 / power).rounded(.down).clamped(to: 0...0x1p30))
    minimumDifference = 0 &- radius
    inverse = FixedPointMultiplier(0x1p31 / power / Double(multiplier.value))
    let differences = Table(count: 256) { multiplier.apply(0 &- Int32($0)) }
    summands = Table(count: 256) { difference in
      guard difference <= Int(radius) else { return Int32(0) }
      return unsafe roundingDivideByPowerOfTwo(
        FixedPointFunctions.exponential(differences.values[difference]), 12)
    }
    self.differences = differences
  }

  static var hasLongRows: Bool { true }

  func fill(_ output: UnsafeMutablePointer<UInt8>, count: Int, input: UnsafePointer<UInt8>) {
    let greatest = unsafe greatest(input, 0..<count, besides: 0)
    let logarithm = FixedPointFunctions.logarithm(unsafe sum(input, 0..<count, greatest))
    unsafe write(output, input, 0..<count, greatest, logarithm)
  }

  func fillLong(
    _ output: UnsafeMutablePointer<UInt8>, count: Int, input: UnsafePointer<UInt8>, poll: inout StopPoll
  ) {
    var greatest: UInt8 = 0
    forEachPiece(of: count, &poll) { greatest = unsafe self.greatest(input, $0, besides: greatest) }
    var sum = 0
    forEachPiece(of: count, &poll) { sum &+= unsafe self.sum(input, $0, greatest) }
    // A stopped run's sum may be 0, whose logarithm is undefined.
    if poll.mustStop(before: 1) { return }
    let logarithm = FixedPointFunctions.logarithm(sum)
    forEachPiece(of: count, &poll) { unsafe write(output, input, $0, greatest, logarithm) }
  }

  /// Bits to flip, after which signed bytes are unsigned ones of equal order.
  private var flip: UInt8 { isSigned ? 0x80 : 0 }

  @inline(__always)
  private func greatest(_ input: UnsafePointer<UInt8>, _ range: Range<Int>, besides least: UInt8) -> UInt8 {
    let flip = flip
    var greatest = least
    for index in range { greatest = max(greatest, unsafe input[index] ^ flip) }
    return greatest
  }

  @inline(__always)
  private func sum(_ input: UnsafePointer<UInt8>, _ range: Range<Int>, _ greatest: UInt8) -> Int {
    let flip = flip
    var sum = 0
    for index in range { sum &+= unsafe Int(summands.values[Int(greatest &- (input[index] ^ flip))]) }
    return sum
  }

  @inline(__always)
  private func write(
    _ output: UnsafeMutablePointer<UInt8>, _ input: UnsafePointer<UInt8>, _ range: Range<Int>,
    _ greatest: UInt8, _ logarithm: Int32
  ) {
    let flip = flip
    let bound = max(minimumDifference &- 1, inverse.apply(logarithm &+ .min))
    for index in range {
      let difference = unsafe Int32(greatest &- (input[index] ^ flip))
      var result: Int32 = 0
      if 0 &- difference > bound {
        let value = unsafe differences.values[Int(difference)] &- logarithm
        result = min(max(roundingDivideByPowerOfTwo(value, 22) &+ 255, 0), 255)
      }
      unsafe output[index] = UInt8(truncatingIfNeeded: result) ^ flip
    }
  }
}

extension Double {
  fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
    Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
  }
}

extension FixedPointFunctions {
  /// The natural logarithm as Q5, for `x ≥ 1` given with 19 bits after the binary point.
  ///
  /// From 4,096 on, `x` does not fit the reference's Q12, which wraps around.
  fileprivate static func logarithm(_ x: Int) -> Int32 {
    let halvings = max(x.bitWidth - x.leadingZeroBitCount - 31, 0)
    let logOfTwo = 46_516_320
    return logarithm(Int32(truncatingIfNeeded: x >> halvings))
      &+ Int32(truncatingIfNeeded: halvings &* logOfTwo)
  }

  /// The natural logarithm as Q5, for `x ≥ 1` given as Q12.
  static func logarithm(_ x: Int32) -> Int32 {
    func product(_ a: Int32, _ b: Int32) -> Int32 { saturatingRoundingDoublingHighMultiply(a, b) }
    let logOfTwo: Int32 = 1_488_522_236
    let rootOfHalf: Int32 = 1_518_500_250
    let fourthRootOfHalf: Int32 = 1_805_811_301
    // A quarter, and powers of two, as Q6.
    let quarter: Int32 = 1 << 23
    // Brings x near 1 in two ways, by a power of two and by √½ times a power of two, and takes the smaller mantissa.
    let zeros = Int32(x.leadingZeroBitCount)
    let nearer = saturatingShiftLeft(
      product(saturatingShiftLeft(x, min(max(zeros &- 1, 0), 30)), rootOfHalf), 1)
    let nearerPower = saturatingShiftLeft(12 &- zeros, 25)
    let headroom = min(max(Int32(product(x, rootOfHalf).leadingZeroBitCount) &- 1, 0), 30)
    let farther = saturatingShiftLeft(x, headroom)
    let fartherPower = saturatingShiftLeft(12 &- headroom, 25)
    let mantissa = min(nearer, farther)
    let power = max(
      Int32(clamping: Int64(nearerPower) &+ Int64(quarter)),
      Int32(clamping: Int64(fartherPower) &- Int64(quarter)))
    let halfSum = Int64(mantissa) &+ Int64(fourthRootOfHalf)
    let p = Int32(truncatingIfNeeded: (halfSum &+ (halfSum >= 0 ? 1 : -1)) / 2)
    let half = mantissa &- fourthRootOfHalf
    let q = half &+ half
    let square = product(q, q)
    // A Padé approximation around the fourth root of one half.
    let numerator = product(q, mantissa) &+ product(product(q, square), 117_049_297)
    let denominator =
      product(p, 1_057_819_769 &+ q &+ product(127_690_142, square)) &+ product(638_450_708, q)
    let quotient = product(roundingDivideByPowerOfTwo(numerator, 6), reciprocalOfOnePlus(denominator))
    return saturatingShiftLeft(product(power, logOfTwo) &+ quotient, 1)
  }
}
