// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The definition of sums of products of bfloat16: for each ``BFloat16Order`` the same bits on every machine, for every thread count.
///
/// With `a` and `w` rounded as in ``BFloat16Rounding``, the sum of an output starts from +0 and takes the products in the
/// order of filter rows, filter columns and channels. In pairs, the second channel of each pair comes first:
/// ```
/// for (row, column) in filter:
///   for channel in 0, 2, 4, …:
///     sum = adding(a[channel + 1], w[channel + 1], to: sum)
///     sum = adding(a[channel], w[channel], to: sum)
/// output = min(max(sum + bias, minimum), maximum)
/// ```
/// In parts of `n` pairs, first and second channels have sums of their own in each part:
/// ```
/// for part in K, 2n values each:
///   (first, second) = (+0, +0)
///   for k in 0, 2, 4, … of the part:
///     first = adding(a[k], w[k], to: first)
///     second = adding(a[k + 1], w[k + 1], to: second)
///   sum = adding(adding(first, second), sum)
/// output = min(max(sum + bias, minimum), maximum)
/// ```
/// Padding is zeros, which are multiplied like all others. Each addition rounds once. The first order is that of `vdpbf16ps`,
/// which adds two products, on Intel's processors; the second is that of `tdpbf16ps`, which multiplies tiles. The last addition
/// and the bounds are those of float32. NaN has no defined sign and payload.
@usableFromInline package enum BFloat16Sum {
  /// `sum + a · w`, rounded once: to nearest, ties to even. A result that is below the least normal float, even after
  /// it was rounded to 24 bits, becomes zero with its sign.
  ///
  /// None of the three is subnormal.
  @inlinable @inline(__always)
  package static func adding(_ a: Float, _ w: Float, to sum: Float) -> Float {
    let result = sum.addingProduct(a, w)
    return result.magnitude > .leastNormalMagnitude ? result : small(result, a, w, sum)
  }

  /// `first + second`, rounded once; a result below the least normal float becomes zero with its sign. Neither is subnormal.
  @inlinable @inline(__always)
  package static func adding(_ first: SIMD4<Float>, _ second: SIMD4<Float>) -> SIMD4<Float> {
    // A subnormal sum of floats is exact, so it is not rounded up to a normal one.
    var result = first + second
    let bits = unsafe unsafeBitCast(result, to: SIMD4<UInt32>.self)
    let isSmall = SIMD4<Int32>(truncatingIfNeeded: bits & 0x7FFF_FFFF) .< 0x0080_0000
    result.replace(with: unsafe unsafeBitCast(bits & 0x8000_0000, to: SIMD4<Float>.self), where: isSmall)
    return result
  }

  /// The sums of four lanes.
  @inlinable @inline(__always)
  package static func adding(_ a: SIMD4<Float>, _ w: SIMD4<Float>, to sum: SIMD4<Float>) -> SIMD4<Float> {
    var result = sum.addingProduct(a, w)
    let bits = unsafe unsafeBitCast(result, to: SIMD4<UInt32>.self) & 0x7FFF_FFFF
    let magnitudes = SIMD4<Int32>(truncatingIfNeeded: bits)
    // Zero is so common that it is told apart.
    if any((magnitudes .<= 0x0080_0000) .& (magnitudes .> 0)) {
      for lane in 0..<4 where result[lane].magnitude <= .leastNormalMagnitude {
        result[lane] = small(result[lane], a[lane], w[lane], sum[lane])
      }
    }
    return result
  }

  /// A result of at most the least normal float, or NaN.
  @usableFromInline @inline(never)
  static func small(_ result: Float, _ a: Float, _ w: Float, _ sum: Float) -> Float {
    let least = Float.leastNormalMagnitude
    guard result.magnitude <= least else { return result }
    // Subnormal floats have fewer bits, so a smaller number may have been rounded up to the least normal one. With
    // another exponent it keeps its 24 bits. Nothing overflows: to get here, `sum` and the product are below 2⁻⁷⁰.
    let scaled = (sum * 0x1p64).addingProduct(a * 0x1p64, w)
    return scaled.magnitude < least * 0x1p64 ? Float(sign: result.sign, exponent: 0, significand: 0) : result
  }
}

extension Convolution {
  /// This convolution of floats with operands rounded to bfloat16, whose products are added in pairs; throws if it stays in
  /// float32, for a reason that does not depend on the machine.
  package func roundedToBFloat16() throws(Decline) -> Convolution {
    let name = operands.name
    guard operands == .float32 else { throw Decline("operands are \(name)") }
    guard !hasTransientWeights else { throw Decline("both operands come with each run") }
    try requirePairs()
    guard depth > Self.shortDepth else {
      throw Decline("outputs of sums of \(depth) products take more time than the products")
    }
    guard columnCount >= Self.fewColumns else {
      throw Decline("\(counted(columnCount, "output channel")) of a group leave most of a vector empty")
    }
    let line = lineDepth
    guard line <= Self.lineLimit else {
      throw Decline("\(line) values of a line of outputs are too many to be kept rounded")
    }
    var result = self
    result.operands = .bfloat16(.pairs)
    return result
  }

  /// The number of products up to which a sum stays in float32. In `mediapipe_hand_landmark_lite` on Emerald Rapids, a convolution of 16
  /// channels to 64 took 1.4 times as long with tile registers as in float32, one of 24 channels to 144 two thirds of it
  /// (`apus run --profile --precision bfloat16`).
  private static let shortDepth = 16

  /// The output channels of a group from which on products are rounded. With 1 and 4, convolutions took twice as long as in float32.
  private static let fewColumns = 8
  /// The most values that a line of outputs may read. Generated code rounds a line's values before it multiplies them, and declines
  /// lines that would not stay in the caches; without it, a product would take thirty times as long as in float32.
  private static let lineLimit = 800_000

  /// The values of one group that a line of outputs reads: of a single pixel if inputs are read in place or have one row.
  private var lineDepth: Int {
    let width = readsInputInPlace || outputHeight == 1 ? 1 : outputWidth
    let reach = max(0, width - 1).multipliedReportingOverflow(by: strideWidth)
    let columns = reach.partialValue.addingReportingOverflow(reachWidth)
    let pixels = reachHeight.multipliedReportingOverflow(by: columns.partialValue)
    let values = pixels.partialValue.multipliedReportingOverflow(by: channelsPerGroup)
    return reach.overflow || columns.overflow || pixels.overflow || values.overflow
      ? .max : values.partialValue
  }

  /// Throws unless channels have pairs, as sums of bfloat16 need.
  package func requirePairs() throws(Decline) {
    let count = channelsPerGroup
    guard count.isMultiple(of: 2), count > 0 else {
      throw Decline("\(counted(count, "channel")) of a group \(count == 1 ? "has" : "have") no pairs")
    }
  }
}
