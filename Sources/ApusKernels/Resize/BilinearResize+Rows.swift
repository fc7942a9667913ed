// SPDX-License-Identifier: Apache-2.0

extension BilinearResize {
  // MARK: Single precision

  /// Interpolates two rows of floats.
  func blend(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap,
    _ scratch: UnsafeMutableRawPointer
  ) {
    let count = inputWidth &* channels
    let row = unsafe scratch.assumingMemoryBound(to: Float.self)
    let from = unsafe upper.assumingMemoryBound(to: Float.self)
    let below = unsafe lower.assumingMemoryBound(to: Float.self)
    let (near, far) = (1 - tap.fraction, tap.fraction)
    for index in 0..<count { unsafe row[index] = from[index] * near + below[index] * far }
  }

  func interpolateFloats(
    _ columns: UnsafeBufferPointer<InterpolationTap>, _ scratch: UnsafeMutableRawPointer,
    _ result: UnsafeMutableRawPointer
  ) {
    let row = unsafe UnsafePointer(scratch.assumingMemoryBound(to: Float.self))
    var place = unsafe result
    for index in columns.indices {
      let column = unsafe columns[index]
      let (left, right) = unsafe (row + column.lower &* channels, row + column.upper &* channels)
      let (near, far) = (SIMD8(repeating: 1 - column.fraction), SIMD8(repeating: column.fraction))
      var channel = 0
      while channel < channels {
        let values = unsafe load8(left, channel) * near + load8(right, channel) * far
        unsafe (place + channel &* 4).storeBytes(of: values, as: SIMD8<Float>.self)
        channel &+= 8
      }
      unsafe place += channels &* 4
    }
  }

  /// Two rows of bytes as floats, times their weights.
  func weigh(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap,
    _ scratch: UnsafeMutableRawPointer
  ) {
    let count = inputWidth &* channels
    let top = unsafe scratch.assumingMemoryBound(to: Float.self)
    let bottom = unsafe top + inputLanes
    let from = unsafe upper.assumingMemoryBound(to: UInt8.self)
    let below = unsafe lower.assumingMemoryBound(to: UInt8.self)
    let (near, far) = (1 - tap.fraction, tap.fraction)
    let first =
      unsafe code?.weigh(
        upper, lower, tap, count: count, to: scratch, lowerDistance: 4 &* inputLanes) ?? 0
    for index in first..<count { unsafe top[index] = Float(from[index]) * near }
    for index in first..<count { unsafe bottom[index] = Float(below[index]) * far }
  }

  /// Computes bytes from sums in the reference's order of operations, because each rounding matters at
  /// halves.
  func interpolateBytes(
    _ columns: UnsafeBufferPointer<InterpolationTap>, _ scratch: UnsafeMutableRawPointer,
    _ result: UnsafeMutableRawPointer
  ) {
    let top = unsafe UnsafePointer(scratch.assumingMemoryBound(to: Float.self))
    let bottom = unsafe top + inputLanes
    var place = unsafe result
    // 2²³ + x rounds x to an integer in its low bits; values are in 0..<256.
    let magic = SIMD8<Float>(repeating: 0x1p23)
    let half = SIMD8<Float>(repeating: 0.5)
    for index in columns.indices {
      let column = unsafe columns[index]
      let (left, right) = (column.lower &* channels, column.upper &* channels)
      let (near, far) = (SIMD8(repeating: 1 - column.fraction), SIMD8(repeating: column.fraction))
      var channel = 0
      while channel < channels {
        let sums =
          unsafe load8(top + left, channel) * near + load8(bottom + left, channel) * near
          + load8(top + right, channel) * far + load8(bottom + right, channel) * far
        let values = sums + half
        let nearest = (values + magic) - magic
        let floors = nearest.replacing(with: nearest - 1, where: nearest .> values)
        let bits = SIMD8<UInt32>(bits: SIMD8<Int32>(bits: floors + magic))
        unsafe (place + channel).storeBytes(of: SIMD8<UInt8>(lowBytes: bits), as: SIMD8<UInt8>.self)
        channel &+= 8
      }
      unsafe place += channels
    }
  }

  // MARK: Fixed point

  /// Weighted sums of two rows.
  @inline(__always)
  private func weigh<Element: FixedWidthInteger, Sum: FixedWidthInteger>(
    _ upper: UnsafePointer<Element>, _ lower: UnsafePointer<Element>, _ near: Sum, _ far: Sum,
    from first: Int = 0, to sums: UnsafeMutablePointer<Sum>
  ) {
    for index in first..<inputWidth &* channels {
      let (above, below) = unsafe (
        Sum(truncatingIfNeeded: upper[index]), Sum(truncatingIfNeeded: lower[index])
      )
      unsafe sums[index] = above &* near &+ below &* far
    }
  }

  /// Weighted sums of two rows of bytes, in sixteenths. Weights above one wrap, and so do their counterparts.
  func weighSixteenths(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap,
    _ scratch: UnsafeMutableRawPointer
  ) {
    unsafe weigh(
      upper.assumingMemoryBound(to: UInt8.self), lower.assumingMemoryBound(to: UInt8.self),
      UInt16(truncatingIfNeeded: 16 &- tap.weight), UInt16(truncatingIfNeeded: tap.weight),
      to: scratch.assumingMemoryBound(to: UInt16.self))
  }

  /// Bytes from sums in sixteenths of sixteenths, halves rounded up.
  func interpolateSixteenths(
    _ columns: UnsafeBufferPointer<InterpolationTap>, _ scratch: UnsafeMutableRawPointer,
    _ result: UnsafeMutableRawPointer
  ) {
    let sums = UnsafeRawPointer(scratch)
    var place = unsafe result
    let half = SIMD8<UInt16>(repeating: 128)
    for index in columns.indices {
      let column = unsafe columns[index]
      let (left, right) = unsafe (
        sums + 2 &* column.lower &* channels, sums + 2 &* column.upper &* channels
      )
      let near = SIMD8(repeating: UInt16(truncatingIfNeeded: 16 &- column.weight))
      let far = SIMD8(repeating: UInt16(truncatingIfNeeded: column.weight))
      var channel = 0
      while channel < channels {
        let first = unsafe left.loadUnaligned(fromByteOffset: 2 &* channel, as: SIMD8<UInt16>.self)
        let second = unsafe right.loadUnaligned(fromByteOffset: 2 &* channel, as: SIMD8<UInt16>.self)
        // 255 · 256 + 128 is the maximum.
        let values = (first &* near &+ second &* far &+ half) &>> SIMD8(repeating: 8)
        unsafe (place + channel).storeBytes(
          of: SIMD8<UInt8>(lowBytes: SIMD8<Int16>(bits: values)), as: SIMD8<UInt8>.self)
        channel &+= 8
      }
      unsafe place += channels
    }
  }

  /// Weighted sums of two rows of signed bytes, in sixteenths; a sixteenth is 64 units of ten-bit weights.
  func weighSignedSixteenths(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap,
    _ scratch: UnsafeMutableRawPointer
  ) {
    let weight = Int16(truncatingIfNeeded: tap.weight >> 6)
    unsafe weigh(
      upper.assumingMemoryBound(to: Int8.self), lower.assumingMemoryBound(to: Int8.self), 16 &- weight,
      weight, to: scratch.assumingMemoryBound(to: Int16.self))
  }

  /// Signed bytes from sums in sixteenths of sixteenths, halves rounded away from zero.
  func interpolateSignedSixteenths(
    _ columns: UnsafeBufferPointer<InterpolationTap>, _ scratch: UnsafeMutableRawPointer,
    _ result: UnsafeMutableRawPointer
  ) {
    let sums = UnsafeRawPointer(scratch)
    var place = unsafe result
    let half = SIMD8<UInt16>(repeating: 128)
    for index in columns.indices {
      let column = unsafe columns[index]
      let (left, right) = unsafe (
        sums + 2 &* column.lower &* channels, sums + 2 &* column.upper &* channels
      )
      let weight = Int16(truncatingIfNeeded: column.weight >> 6)
      let (near, far) = (SIMD8(repeating: 16 &- weight), SIMD8(repeating: weight))
      var channel = 0
      while channel < channels {
        let first = unsafe left.loadUnaligned(fromByteOffset: 2 &* channel, as: SIMD8<Int16>.self)
        let second = unsafe right.loadUnaligned(fromByteOffset: 2 &* channel, as: SIMD8<Int16>.self)
        // Between −128 · 256 and 127 · 256. Magnitudes are rounded, halves up, and get their sign back.
        let sum = first &* near &+ second &* far
        let signs = sum &>> SIMD8(repeating: 15)
        let magnitudes = SIMD8<UInt16>(truncatingIfNeeded: (sum ^ signs) &- signs)
        let rounded = SIMD8<Int16>(truncatingIfNeeded: (magnitudes &+ half) &>> SIMD8(repeating: 8))
        unsafe (place + channel).storeBytes(
          of: SIMD8<UInt8>(lowBytes: (rounded ^ signs) &- signs), as: SIMD8<UInt8>.self)
        channel &+= 8
      }
      unsafe place += channels
    }
  }

  /// Sums of two rows of signed bytes, with weights of ten bits.
  func weighSigned(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap,
    _ scratch: UnsafeMutableRawPointer
  ) {
    let first =
      unsafe code?.weigh(
        upper, lower, tap, count: inputWidth &* channels, to: scratch, lowerDistance: 0) ?? 0
    unsafe weigh(
      upper.assumingMemoryBound(to: Int8.self), lower.assumingMemoryBound(to: Int8.self), 1024 &- tap.weight,
      tap.weight, from: first,
      to: scratch.assumingMemoryBound(to: Int32.self))
  }

  func interpolateSignedBytes(
    _ columns: UnsafeBufferPointer<InterpolationTap>, _ scratch: UnsafeMutableRawPointer,
    _ result: UnsafeMutableRawPointer
  ) {
    let sums = unsafe UnsafePointer(scratch.assumingMemoryBound(to: Int32.self))
    var place = unsafe result
    let half = SIMD8<Int32>(repeating: 1 << 19)
    for index in columns.indices {
      let column = unsafe columns[index]
      let (left, right) = unsafe (sums + column.lower &* channels, sums + column.upper &* channels)
      let near = SIMD8<Int32>(repeating: 1024 &- column.weight)
      let far = SIMD8<Int32>(repeating: column.weight)
      var channel = 0
      while channel < channels {
        let sum = unsafe load8(left, channel) &* near &+ load8(right, channel) &* far
        // Magnitudes are rounded, halves up, and get their sign back.
        let signs = sum &>> SIMD8(repeating: 31)
        let magnitudes = (sum ^ signs) &- signs
        let values = (((magnitudes &+ half) &>> SIMD8(repeating: 20)) ^ signs) &- signs
        unsafe (place + channel).storeBytes(
          of: SIMD8<UInt8>(lowBytes: SIMD8<UInt32>(bits: values)), as: SIMD8<UInt8>.self)
        channel &+= 8
      }
      unsafe place += channels
    }
  }

  /// Weighted sums of two rows of `int16`, with weights of ten bits.
  func weighWords(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap,
    _ scratch: UnsafeMutableRawPointer
  ) {
    unsafe weigh(
      upper.assumingMemoryBound(to: Int16.self), lower.assumingMemoryBound(to: Int16.self),
      Int64(1024 &- tap.weight), Int64(tap.weight),
      to: scratch.assumingMemoryBound(to: Int64.self))
  }

  func interpolateWords(
    _ columns: UnsafeBufferPointer<InterpolationTap>, _ scratch: UnsafeMutableRawPointer,
    _ result: UnsafeMutableRawPointer
  ) {
    let sums = unsafe UnsafePointer(scratch.assumingMemoryBound(to: Int64.self))
    var place = unsafe result.assumingMemoryBound(to: Int16.self)
    for index in columns.indices {
      let column = unsafe columns[index]
      let (left, right) = unsafe (sums + column.lower &* channels, sums + column.upper &* channels)
      let (near, far) = (Int64(1024 &- column.weight), Int64(column.weight))
      for channel in 0..<channels {
        let sum = unsafe left[channel] &* near &+ right[channel] &* far
        let value = (sum &+ (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20)
        unsafe place[channel] = Int16(truncatingIfNeeded: value)
      }
      unsafe place += channels
    }
  }
}

/// Eight values at `index`; those beyond a row are not used.
@inline(__always)
private func load8(_ values: UnsafePointer<Float>, _ index: Int) -> SIMD8<Float> {
  unsafe UnsafeRawPointer(values + index).loadUnaligned(as: SIMD8<Float>.self)
}

@inline(__always)
private func load8(_ values: UnsafePointer<Int32>, _ index: Int) -> SIMD8<Int32> {
  unsafe UnsafeRawPointer(values + index).loadUnaligned(as: SIMD8<Int32>.self)
}
