// SPDX-License-Identifier: Apache-2.0
import Apus

/// Sound in memory: samples from −1 to 1 of one or more channels.
///
/// ```swift
/// let clip = try AudioClip(contentsOfFile: "street.wav")
/// let mono = clip.mono().resampled(to: 16_000)
/// ```
public struct AudioClip: Hashable, Sendable {
  /// The maximum number of channels.
  public static let maximumChannelCount = 64
  /// The maximum number of samples of all channels together: 2²⁸, or about 46 minutes of stereo at 48 kHz.
  public static let maximumSampleCount = 1 << 28
  /// The sample rates that are possible, in samples a second.
  public static let sampleRates = 1_000...384_000
  /// The maximum size of a file, in bytes.
  public static let maximumFileSize = 1 << 30

  /// The samples, interleaved: those of all channels for the first moment, then for the next.
  public let samples: [Float]
  /// The number of samples of one channel per second.
  public let sampleRate: Int
  /// The number of channels.
  public let channelCount: Int

  /// Makes a clip from its samples.
  ///
  /// - Throws: `invalidArgument` for a rate outside ``sampleRates``, for no channels or more than ``maximumChannelCount``, if the number of
  ///   samples is not a multiple of that of channels, or if a sample is not finite; `resourceLimit` beyond ``maximumSampleCount``.
  public init(samples: [Float], sampleRate: Int, channelCount: Int = 1) throws(ApusError) {
    try Self.check(sampleRate: sampleRate, channelCount: channelCount, code: .invalidArgument)
    guard samples.count <= Self.maximumSampleCount else {
      throw ApusError(.resourceLimit, "\(samples.count) samples are more than \(Self.maximumSampleCount)")
    }
    guard samples.count.isMultiple(of: channelCount) else {
      throw ApusError(
        .invalidArgument, "\(samples.count) samples are not a multiple of \(channelCount) channels")
    }
    if let place = samples.firstIndex(where: { !$0.isFinite }) {
      throw ApusError(.invalidArgument, "sample \(place) is \(samples[place]), not a finite number")
    }
    self.init(trusted: samples, sampleRate: sampleRate, channelCount: channelCount)
  }

  /// Makes a clip whose numbers are known to be right.
  init(trusted samples: [Float], sampleRate: Int, channelCount: Int) {
    self.samples = samples
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Checks what a clip needs before memory is taken for it.
  static func check(sampleRate: Int, channelCount: Int, code: ApusError.Code) throws(ApusError) {
    guard sampleRates.contains(sampleRate) else {
      throw ApusError(
        code,
        "the sample rate is \(sampleRate), not \(sampleRates.lowerBound) to \(sampleRates.upperBound) a second"
      )
    }
    guard (1...maximumChannelCount).contains(channelCount) else {
      throw ApusError(code, "there are \(channelCount) channels, not 1 to \(maximumChannelCount)")
    }
  }

  /// How many samples each channel has.
  public var frameCount: Int { samples.count / channelCount }

  /// The length of the clip.
  public var duration: Duration { .seconds(Double(frameCount) / Double(sampleRate)) }

  /// The mean of all channels.
  public func mono() -> AudioClip {
    guard channelCount > 1 else { return self }
    return AudioClip(trusted: means(0..<frameCount), sampleRate: sampleRate, channelCount: 1)
  }

  /// The means of all channels for some frames.
  func means(_ frames: Range<Int>) -> [Float] {
    guard channelCount > 1 else { return Array(samples[frames]) }
    let scale = 1 / Float(channelCount)
    return frames.map { frame in
      samples[frame * channelCount..<(frame + 1) * channelCount].reduce(0, +) * scale
    }
  }
}

extension ApusError.Code {
  /// A sound file's bytes are damaged.
  public static let malformedAudio = ApusError.Code(rawValue: "malformedAudio")
  /// A sound file is of a kind that this build does not read.
  public static let unsupportedAudio = ApusError.Code(rawValue: "unsupportedAudio")
}
