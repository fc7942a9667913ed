// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The discrete Fourier transform of `count` real numbers: the first `count / 2 + 1` results, which determine
/// the others.
struct RealFourierTransform: Sendable {
  /// The number of values, a power of two.
  let count: Int
  /// The number of results.
  var resultCount: Int { count / 2 + 1 }
  /// The scratch memory of a run, in doubles.
  var workCount: Int { count + 2 }

  /// The transform of half as many complex numbers: even values are their real parts, odd ones the imaginary
  /// parts.
  private let halves: FourierTransform
  /// `e^(−2πik/count)`.
  private let cosines: Table<Double>
  private let sines: Table<Double>

  /// Computes the tables for a power of two up to 2³¹.
  init(count: Int) {
    self.count = count
    halves = FourierTransform(count: max(count / 2, 1))
    let step = -2 * Double.pi / Double(count)
    cosines = Table(count: count / 4 + 1) { cos(step * Double($0)) }
    sines = Table(count: count / 4 + 1) { sin(step * Double($0)) }
  }

  /// Transforms `value(index)` for each index below `count`. Real parts come first in `work`, and imaginary
  /// parts from `resultCount` on.
  @inline(__always)
  func run(_ work: UnsafeMutablePointer<Double>, _ value: (Int) -> Double) {
    let reals = unsafe work
    let imaginaries = unsafe work + resultCount
    guard count > 1 else {
      unsafe reals[0] = value(0)
      unsafe imaginaries[0] = 0
      return
    }
    let half = count / 2
    for index in 0..<half {
      unsafe reals[index] = value(2 &* index)
      unsafe imaginaries[index] = value(2 &* index &+ 1)
    }
    unsafe halves.run(reals, imaginaries)
    unsafe separate(reals, imaginaries)
  }

  /// Computes the results for real numbers from the complex ones: `X(k)` and `X(half − k)` depend on the same
  /// two.
  private func separate(_ reals: UnsafeMutablePointer<Double>, _ imaginaries: UnsafeMutablePointer<Double>) {
    let half = count / 2
    let (real, imaginary) = unsafe (reals[0], imaginaries[0])
    unsafe (reals[0], imaginaries[0]) = (real + imaginary, 0)
    unsafe (reals[half], imaginaries[half]) = (real - imaginary, 0)
    guard half > 1 else { return }
    for low in 1...half / 2 {
      let high = half &- low
      // The transforms of the even and of the odd values.
      let even = unsafe (0.5 * (reals[low] + reals[high]), 0.5 * (imaginaries[low] - imaginaries[high]))
      let odd = unsafe (0.5 * (imaginaries[low] + imaginaries[high]), 0.5 * (reals[high] - reals[low]))
      let (cosine, sine) = unsafe (cosines.values[low], sines.values[low])
      let turned = (odd.0 * cosine - odd.1 * sine, odd.0 * sine + odd.1 * cosine)
      unsafe (reals[low], imaginaries[low]) = (even.0 + turned.0, even.1 + turned.1)
      unsafe (reals[high], imaginaries[high]) = (even.0 - turned.0, turned.1 - even.1)
    }
  }
}
