// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The discrete Fourier transform of complex numbers, `X(k) = Σ x(n)·e^(−2πikn/count)`, in place and in double
/// precision, by radix two.
struct FourierTransform: Sendable {
  /// The number of values, a power of two.
  let count: Int

  /// The bit-reversed index of each value.
  private let reversed: Table<Int32>
  /// `e^(−πik/half)` for `k` below `half`, at `half + k`, for each power of two below the count.
  private let cosines: Table<Double>
  private let sines: Table<Double>

  /// Computes the tables for a power of two up to 2³¹.
  init(count: Int) {
    precondition(count > 0 && count & (count - 1) == 0 && count <= 1 << 31)
    self.count = count
    let shift = UInt32.bitWidth - count.trailingZeroBitCount
    reversed = Table(count: count) { index in
      var bits = UInt32(truncatingIfNeeded: index)
      var result: UInt32 = 0
      for _ in 0..<UInt32.bitWidth {
        result = result &<< 1 | bits & 1
        bits &>>= 1
      }
      return Int32(truncatingIfNeeded: UInt64(result) >> UInt64(shift))
    }
    func angle(_ index: Int) -> Double {
      let half = index == 0 ? 1 : 1 << (Int.bitWidth - 1 - index.leadingZeroBitCount)
      return -Double.pi * Double(index - half) / Double(half)
    }
    cosines = Table(count: count) { cos(angle($0)) }
    sines = Table(count: count) { sin(angle($0)) }
  }

  /// Transforms `count` numbers.
  func run(_ reals: UnsafeMutablePointer<Double>, _ imaginaries: UnsafeMutablePointer<Double>) {
    for index in 0..<count {
      let other = unsafe Int(reversed.values[index])
      guard index < other else { continue }
      unsafe (reals[index], reals[other]) = (reals[other], reals[index])
      unsafe (imaginaries[index], imaginaries[other]) = (imaginaries[other], imaginaries[index])
    }
    var half = 1
    while half < count {
      var first = 0
      while first < count {
        unsafe combine(reals + first, imaginaries + first, half: half)
        first &+= 2 &* half
      }
      half &*= 2
    }
  }

  /// Combines two transforms of `half` values each (a butterfly stage).
  @inline(__always)
  private func combine(
    _ reals: UnsafeMutablePointer<Double>, _ imaginaries: UnsafeMutablePointer<Double>, half: Int
  ) {
    let cosines = unsafe cosines.values + half
    let sines = unsafe sines.values + half
    for low in 0..<half {
      let high = low &+ half
      let (cosine, sine) = unsafe (cosines[low], sines[low])
      let (real, imaginary) = unsafe (reals[high], imaginaries[high])
      let product = (real * cosine - imaginary * sine, real * sine + imaginary * cosine)
      unsafe reals[high] = reals[low] - product.0
      unsafe imaginaries[high] = imaginaries[low] - product.1
      unsafe reals[low] += product.0
      unsafe imaginaries[low] += product.1
    }
  }
}
