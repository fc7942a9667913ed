// SPDX-License-Identifier: Apache-2.0

/// The epilogue of floats: a clamp that lets NaN through.
struct FloatBounds {
  let minimum: Float
  let maximum: Float

  /// The bounds of an epilogue of floats; nil for other epilogues.
  init?(_ epilogue: Epilogue) {
    guard case .float32(let minimum, let maximum) = epilogue else { return nil }
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Clamps four values.
  @inline(__always)
  func clamp(_ values: SIMD4<Float>) -> SIMD4<Float> {
    let least = SIMD4(repeating: minimum)
    let most = SIMD4(repeating: maximum)
    let above = values.replacing(with: least, where: values .< least)
    return above.replacing(with: most, where: most .< above)
  }

  /// Writes `count` sums plus bias, clamped; the output may be the sums themselves.
  func store(
    _ sums: UnsafePointer<Float>, bias: UnsafePointer<Float>, count: Int, to output: UnsafeMutableRawPointer
  ) {
    var index = 0
    while index &+ 4 <= count {
      let values = unsafe load4(sums, index) + load4(bias, index)
      unsafe output.storeBytes(of: clamp(values), toByteOffset: index &* 4, as: SIMD4<Float>.self)
      index &+= 4
    }
    while index < count {
      let value = unsafe sums[index] + bias[index]
      unsafe output.storeBytes(
        of: clamp(SIMD4(repeating: value))[0], toByteOffset: index &* 4, as: Float.self)
      index &+= 1
    }
  }
}

/// Four values at `index`.
@inline(__always)
func load4(_ values: UnsafePointer<Float>, _ index: Int) -> SIMD4<Float> {
  unsafe UnsafeRawPointer(values + index).loadUnaligned(as: SIMD4<Float>.self)
}
