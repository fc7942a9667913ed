// SPDX-License-Identifier: Apache-2.0

import ApusSystem

extension AudioClip {
  /// The same sound at another rate.
  ///
  /// The rule is that of SciPy's `resample_poly`. Let `up / down` be the quotient of the rates in lowest terms. The samples, with
  /// `up − 1` zeros between them, pass a low-pass filter of `20 · max(up, down) + 1` taps (a sinc in a Kaiser window with
  /// β = 5), and every `down`-th result is kept. Before its beginning and after its end, the sound is silent.
  ///
  /// - Parameter rate: Samples per second; a rate outside ``sampleRates`` becomes the nearest one inside.
  public func resampled(to rate: Int) -> AudioClip {
    let rate = min(max(rate, Self.sampleRates.lowerBound), Self.sampleRates.upperBound)
    guard rate != sampleRate, frameCount > 0 else { return self }
    let divisor = greatestCommonDivisor(rate, sampleRate)
    let (up, down) = (rate / divisor, sampleRate / divisor)
    let half = 10 * max(up, down)
    let taps = lowPass(half: half, cutoff: 1 / Double(max(up, down)), gain: Double(up))
    // What does not fit the limit is left out at the end.
    let wanted = (frameCount * up + down - 1) / down
    let count = min(wanted, Self.maximumSampleCount / channelCount)
    var result = [Float](repeating: 0, count: count * channelCount)
    for frame in 0..<count {
      // The middle of the filter lies at this place of the stretched sound, whose every `up`-th sample is one of ours.
      let middle = frame * down
      let first = max((middle - half + up - 1) / up, 0)
      let last = min((middle + half) / up, frameCount - 1)
      guard first <= last else { continue }
      for channel in 0..<channelCount {
        var sum = 0.0
        for source in first...last {
          sum += taps[middle - source * up + half] * Double(samples[source * channelCount + channel])
        }
        result[frame * channelCount + channel] = Float(sum)
      }
    }
    return AudioClip(trusted: result, sampleRate: rate, channelCount: channelCount)
  }
}

private func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
  other == 0 ? one : greatestCommonDivisor(other, one % other)
}

/// A sinc in a Kaiser window with β = 5: `2 · half + 1` taps whose sum is `gain`.
///
/// - Parameter cutoff: As a fraction of half the rate.
private func lowPass(half: Int, cutoff: Double, gain: Double) -> [Double] {
  let beta = 5.0
  let peak = modifiedBessel(beta)
  var taps = (-half...half).map { place in
    let x = Double(place) * cutoff * Double.pi
    let position = Double(place) / Double(half)
    let window = modifiedBessel(beta * max(1 - position * position, 0).squareRoot()) / peak
    return (place == 0 ? 1 : sin(x) / x) * window
  }
  let scale = gain / taps.reduce(0, +)
  for index in taps.indices { taps[index] *= scale }
  return taps
}

/// The modified Bessel function of the first kind and order 0, by its power series; for arguments up to 5.
private func modifiedBessel(_ x: Double) -> Double {
  var (term, sum, order) = (1.0, 1.0, 1.0)
  while term > sum * 1e-17 {
    term *= x * x / 4 / (order * order)
    sum += term
    order += 1
  }
  return sum
}
