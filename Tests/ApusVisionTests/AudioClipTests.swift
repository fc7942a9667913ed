// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

@Suite struct AudioClipTests {
  @Test func hasGoldens() {
    #expect(AudioGoldens.files.count == 10 && AudioGoldens.rates.count == 8)
  }

  @Test("samples are those that SciPy reads", arguments: AudioGoldens.files)
  func decodes(golden: AudioGoldens.File) throws {
    let clip = try AudioClip(decoding: Array(golden.file))
    #expect(clip.sampleRate == golden.rate && clip.channelCount == golden.channels)
    #expect(clip.samples == golden.samples.floats)
    #expect(clip.frameCount == 21 && clip.duration == .seconds(21 / Double(golden.rate)))
  }

  @Test("another rate's samples are those of SciPy's resample_poly", arguments: AudioGoldens.rates)
  func resamples(golden: AudioGoldens.Rates) throws {
    let clip = try AudioClip(samples: golden.samples.floats, sampleRate: golden.rate)
    let result = clip.resampled(to: golden.wanted)
    let expected = golden.result.floats
    #expect(result.sampleRate == golden.wanted && result.samples.count == expected.count)
    // Both add doubles, in another order.
    #expect(zip(result.samples, expected).allSatisfy { abs($0 - $1) < 1e-6 })
  }

  @Test("several channels are resampled each, and become their mean")
  func mixes() throws {
    let clip = try AudioClip(samples: [1, 0, 0.5, -0.5, 0, 1], sampleRate: 8_000, channelCount: 2)
    #expect(clip.mono().samples == [0.5, 0, 0.5] && clip.mono().mono() == clip.mono())
    let (left, right) = (
      try AudioClip(samples: [1, 0.5, 0], sampleRate: 8_000).resampled(to: 16_000),
      try AudioClip(samples: [0, -0.5, 1], sampleRate: 8_000).resampled(to: 16_000)
    )
    let both = clip.resampled(to: 16_000).samples
    #expect(both == zip(left.samples, right.samples).flatMap { [$0, $1] } && both.count == 12)
    #expect(clip.resampled(to: 8_000) == clip)
    #expect(clip.resampled(to: .max).sampleRate == 384_000 && clip.resampled(to: 0).sampleRate == 1_000)
  }

  @Test(
    "parts of one channel at another rate are those of the whole clip", arguments: [8_000, 16_000, 44_100])
  func resamplesParts(rate: Int) throws {
    var random = SeededGenerator(seed: UInt64(rate))
    let samples = (0..<2 * 999).map { _ in Float.random(in: -1...1, using: &random) }
    let clip = try AudioClip(samples: samples, sampleRate: 16_000, channelCount: 2)
    let (sound, whole) = (MonoSound(clip, sampleRate: rate), clip.mono().resampled(to: rate).samples)
    #expect(sound.count == whole.count)
    for range in [0..<whole.count, 0..<1, 0..<0, 100..<357, whole.count - 9..<whole.count] {
      #expect(sound.samples(range) == Array(whole[range]), "\(range)")
    }
  }

  @Test("a long clip keeps its end at a higher rate")
  func keepsTheEnd() throws {
    var samples = [Float](repeating: 0, count: 700_000)
    samples[699_999] = 1
    let sound = MonoSound(try AudioClip(samples: samples, sampleRate: 1_000), sampleRate: 384_000)
    #expect(sound.count == 384 * 700_000 && sound.count > AudioClip.maximumSampleCount)
    #expect(sound.samples(sound.count - 384..<sound.count).contains { $0 > 0.9 })
    #expect(!sound.samples(sound.count - 100_000..<sound.count - 99_000).contains { abs($0) > 1e-6 })
  }

  @Test("clips that cannot be are refused")
  func refusesClips() {
    for (samples, rate, channels) in [
      ([0, 0], 999, 1), ([0, 0], 400_000, 1), ([0], 8_000, 2), ([], 8_000, 0), ([], 8_000, 65),
    ] {
      let error = #expect(throws: ApusError.self) {
        try AudioClip(samples: samples.map { Float($0) }, sampleRate: rate, channelCount: channels)
      }
      #expect(error?.code == .invalidArgument)
    }
    for odd in [Float.nan, .infinity, -.infinity] {
      let error = #expect(throws: ApusError.self) { try AudioClip(samples: [0, odd], sampleRate: 8_000) }
      #expect(error?.code == .invalidArgument && error?.message.hasPrefix("sample 1 is ") == true)
    }
  }

  @Test("damage is told with its place")
  func refusesDamage() throws {
    let file = Array(try #require(AudioGoldens.files.first { $0.name.hasPrefix("16 bits") }).file)
    func changed(_ place: Int, _ bytes: UInt8...) -> [UInt8] {
      var file = file
      file.replaceSubrange(place..<place + bytes.count, with: bytes)
      return file
    }
    for (bytes, code, message) in [
      ([], .unsupportedAudio, "the bytes do not begin as a WAV file does"),
      (Array("RIFF....AVI ....".utf8), .unsupportedAudio, "the bytes do not begin as a WAV file does"),
      (Array(file.prefix(20)), .malformedAudio, "byte 20: a format of 16 bytes is cut off"),
      (Array(file.prefix(36)), .malformedAudio, "the file has no sound"),
      (
        Array(file.dropLast()), .malformedAudio,
        "byte 36: 42 bytes of sound are announced, but 41 follow: the file is cut off"
      ),
      (
        changed(20, 2), .unsupportedAudio,
        "the format is 2 (ADPCM) with 16 bits, not 1 (integers of 8 to 32 bits) or 3 (floats of 32 or 64); convert"
      ),
      (
        changed(0, 0x52, 0x49, 0x46, 0x58), .unsupportedAudio,
        "the bytes do not begin as a WAV file does, with 'RIFF' and 'WAVE' behind a length; convert it to WAV"
      ),
      (changed(34, 12), .unsupportedAudio, "the format is 1 with 12 bits"),
      (changed(22, 0), .malformedAudio, "there are 0 channels"),
      (changed(24, 0, 0, 0), .malformedAudio, "the sample rate is 0"),
      (changed(32, 3), .malformedAudio, "byte 20: 1 channels of 16 bits take 2 bytes, not 3"),
      (changed(12, 0x66, 0x6D, 0x74, 0x21), .malformedAudio, "byte 36: the sound comes before its format"),
      (
        Array(file.prefix(36)) + (0..<4_096).flatMap { _ in Array("LIST".utf8) + [0, 0, 0, 0] }
          + Array(file.dropFirst(36)), .resourceLimit, "the sound is not among the first 4096 parts"
      ),
      (changed(40, 0, 0, 0, 0x70), .malformedAudio, "byte 36: 1879048192 bytes of sound"),
    ] as [([UInt8], ApusError.Code, String)] {
      let error = #expect(throws: ApusError.self) { try AudioClip(decoding: bytes) }
      #expect(error?.code == code && error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
    #expect(try AudioClip(decoding: changed(40, 255, 255, 255, 255)).frameCount == 21)
    // A recorder that was ended did not come to write the length.
    let open = changed(40, 0, 0, 0, 0)
    #expect(try AudioClip(decoding: open) == AudioClip(decoding: file))
    // There is no sound where nothing follows, or another part of the file.
    #expect(try AudioClip(decoding: Array(open.prefix(44))).frameCount == 0)
    let listed = Array(open.prefix(44)) + Array("LIST".utf8) + [2, 0, 0, 0, 1, 2]
    #expect(try AudioClip(decoding: listed).frameCount == 0)
    let floats = Array(
      try #require(AudioGoldens.files.first { $0.name.hasPrefix("32 bits, format 3,") }).file)
    let error = #expect(throws: ApusError.self) {
      try AudioClip(decoding: floats.dropLast(4) + [0, 0, 0xC0, 0x7F])
    }
    #expect(error?.message.hasSuffix("the sample is not a finite number") == true)
    #expect(throws: ApusError.self) { try AudioClip(contentsOfFile: "nowhere.wav") }
  }

  @Test("no bytes, however broken, do more harm than an error", arguments: AudioGoldens.files)
  func survivesMutations(golden: AudioGoldens.File) {
    let file = Array(golden.file)
    var random = SeededGenerator(seed: UInt64(file.count))
    var readable = 0
    // The byte that fills up to an even length may be missing.
    for length in 0..<file.count - 1 where (try? AudioClip(decoding: Array(file.prefix(length)))) != nil {
      readable += 1
    }
    #expect(readable == 0)
    for _ in 0..<3_000 {
      var bytes = file
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let value = [0, 1, 2, 127, 128, 255, UInt8.random(in: 0...255, using: &random)].randomElement(
          using: &random)
        bytes[Int.random(in: 0..<min(bytes.count, 90), using: &random)] = value ?? 0
      }
      if let clip = try? AudioClip(decoding: bytes) {
        #expect(clip.samples.count <= bytes.count)
      }
    }
  }
}
