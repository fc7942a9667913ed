// SPDX-License-Identifier: Apache-2.0

import ApusSystem

extension AudioClip {
  /// The sound at another rate.
  ///
  /// The rule is that of SciPy's `resample_poly`. Let `up / down` be the quotient of the rates in lowest
  /// terms. The samples, with `up − 1` zeros between them, pass a low-pass filter of `20 · max(up, down) + 1`
  /// taps (a sinc in a Kaiser window with β = 5), and every `down`-th result is kept. Before its beginning
  /// and after its end, the sound is silent. What exceeds ``maximumSampleCount`` at the new rate is left out at the end.
  ///
  /// - Parameter rate: Samples per second; a rate outside ``sampleRates`` becomes the nearest one inside.
  public func resampled(to rate: Int) -> AudioClip {
    let rate = min(max(rate, Self.sampleRates.lowerBound), Self.sampleRates.upperBound)
    guard rate != sampleRate, frameCount > 0 else { return self }
    let change = RateChange(from: sampleRate, to: rate)
    let count = min(change.count(of: frameCount), Self.maximumSampleCount / channelCount)
    var result = [Float](repeating: 0, count: count * channelCount)
    for frame in 0..<count {
      for channel in 0..<channelCount {
        result[frame * channelCount + channel] = change.value(
          at: frame, of: samples, channel: channel, of: channelCount)
      }
    }
    return AudioClip(trusted: result, sampleRate: rate, channelCount: channelCount)
  }
}

/// A clip as one channel at another rate: like `mono().resampled(to:)`, but parts are computed when they are asked for, so that a
/// long clip takes no more memory.
package struct MonoSound {
  private let clip: AudioClip
  private let change: RateChange?
  /// How many samples there are; more than a clip may have, if the rate rises.
  package let count: Int

  /// Prepares the samples of a clip at a rate.
  package init(_ clip: AudioClip, sampleRate: Int) {
    self.clip = clip
    change = clip.sampleRate == sampleRate ? nil : RateChange(from: clip.sampleRate, to: sampleRate)
    count = change?.count(of: clip.frameCount) ?? clip.frameCount
  }

  /// Some samples.
  package func samples(_ range: Range<Int>) -> [Float] {
    guard let change, !range.isEmpty else { return clip.means(range) }
    let first = change.sources(of: range.lowerBound, in: clip.frameCount).lowerBound
    let end = change.sources(of: range.upperBound - 1, in: clip.frameCount).upperBound
    let means = clip.means(first..<end)
    return range.map { change.value(at: $0, of: means, from: first, before: clip.frameCount) }
  }
}

/// How sound gets another rate.
private struct RateChange {
  private let up: Int
  private let down: Int
  private let half: Int
  private let taps: [Double]

  init(from rate: Int, to other: Int) {
    let divisor = greatestCommonDivisor(other, rate)
    (up, down) = (other / divisor, rate / divisor)
    half = 10 * max(up, down)
    taps = lowPass(half: half, cutoff: 1 / Double(max(up, down)), gain: Double(up))
  }

  /// How many frames become of `frameCount` ones.
  func count(of frameCount: Int) -> Int { (frameCount * up + down - 1) / down }

  /// The frames that a new one is made of.
  func sources(of frame: Int, in frameCount: Int) -> Range<Int> {
    // The middle of the filter lies at this place of the stretched sound, whose every `up`-th sample is one of ours.
    let middle = frame * down
    let first = max((middle - half + up - 1) / up, 0)
    return first..<max(min((middle + half) / up, frameCount - 1) + 1, first)
  }

  /// One channel of a new frame; `samples` begins with the frame `start`.
  func value(
    at frame: Int, of samples: [Float], from start: Int = 0, before frameCount: Int? = nil, channel: Int = 0,
    of channelCount: Int = 1
  ) -> Float {
    let middle = frame * down
    var sum = 0.0
    for source in sources(of: frame, in: frameCount ?? samples.count / channelCount) {
      sum += taps[middle - source * up + half] * Double(samples[(source - start) * channelCount + channel])
    }
    return Float(sum)
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
