// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Reads WAV files: integers of 8, 16, 24 and 32 bits, floats of 32 and 64.
///
/// Source: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991), and Microsoft's
/// `WAVEFORMATEXTENSIBLE`. Integers become `v / 2ⁿ⁻¹`; those of 8 bits are stored with 128 added.
struct WAVDecoder {
  /// How samples are stored.
  private struct Layout {
    let isFloat: Bool
    let sampleByteCount: Int
    let channelCount: Int
    let sampleRate: Int
  }

  private let bytes: [UInt8]

  /// The clip in the bytes of a file.
  static func decode(_ bytes: [UInt8]) throws(ApusError) -> AudioClip {
    try WAVDecoder(bytes: bytes).clip()
  }

  /// The maximum number of parts of a file that are skipped in search of its sound.
  private static let maximumChunkCount = 4096

  /// The way out for sounds of another kind.
  private static let advice = "; convert it to WAV of 16 bits, for example with 'ffmpeg -i FILE sound.wav'"
  /// Formats that are not read, by their numbers.
  private static let formats = [2: "ADPCM", 6: "A-law", 7: "mu-law", 17: "ADPCM", 49: "GSM", 85: "MP3"]

  private func clip() throws(ApusError) -> AudioClip {
    guard bytes.count >= 12, text(0) == "RIFF", text(8) == "WAVE" else {
      let kind = bytes.isEmpty ? nil : FileKind(beginning: Array(bytes.prefix(FileKind.beginningByteCount)))
      let isSound = bytes.count >= 12 && text(0) == "RIFX" || kind?.isSound == true
      throw ApusError(
        .unsupportedAudio,
        "the bytes do not begin as a WAV file does, with 'RIFF' and 'WAVE' behind a length"
          + (kind.map { ": it is \($0.name)" } ?? "") + (isSound ? Self.advice : ""))
    }
    var layout: Layout?
    var position = 12
    var chunkCount = 0
    while position <= bytes.count - 8 {
      chunkCount += 1
      guard chunkCount <= Self.maximumChunkCount else {
        throw ApusError(
          .resourceLimit, "the sound is not among the first \(Self.maximumChunkCount) parts of the file")
      }
      let (name, length) = (text(position), Int(uint32(position + 4)))
      let start = position + 8
      switch name {
      case "fmt ":
        layout = try self.layout(start, length)
      case "data":
        guard let layout else {
          throw ApusError(.malformedAudio, "byte \(position): the sound comes before its format")
        }
        // A recorder that writes to a pipe does not know the length, and announces about the maximum, or 0:
        // the sound goes on to the end.
        let left = bytes.count - start
        let isOpen = length > left && length >= 0x7FFF_0000 || length == 0 && left > 0 && !isPart(start)
        guard isOpen || length <= left else {
          throw ApusError(
            .malformedAudio,
            "byte \(position): \(length) bytes of sound are announced, but \(left) follow: the file is cut off; "
              + "'ffmpeg -i FILE sound.wav' makes a whole one of what is there")
        }
        return try samples(start, isOpen ? left : length, layout)
      default: break
      }
      guard length <= bytes.count - start else { break }
      // Parts begin at even bytes.
      position = start + length + length % 2
    }
    throw ApusError(
      .malformedAudio, layout == nil ? "the file has no format ('fmt ')" : "the file has no sound ('data')")
  }

  /// Whether a part of the file begins at a place: a name of letters, and no more bytes than follow.
  private func isPart(_ place: Int) -> Bool {
    place <= bytes.count - 8 && bytes[place..<place + 4].allSatisfy { (0x20...0x7E).contains($0) }
      && Int(uint32(place + 4)) <= bytes.count - place - 8
  }

  private func layout(_ start: Int, _ length: Int) throws(ApusError) -> Layout {
    guard length >= 16, length <= bytes.count - start else {
      throw ApusError(.malformedAudio, "byte \(start): a format of \(length) bytes is cut off or too short")
    }
    var tag = uint16(start)
    let (channelCount, sampleRate) = (uint16(start + 2), Int(uint32(start + 4)))
    let (frameByteCount, bits) = (uint16(start + 12), uint16(start + 14))
    if tag == 0xFFFE {
      // The tag stands in the first bytes of an identifier that says the rest.
      guard length >= 40 else {
        throw ApusError(.malformedAudio, "byte \(start): an extensible format of \(length) bytes is cut off")
      }
      tag = uint16(start + 24)
    }
    try AudioClip.check(sampleRate: sampleRate, channelCount: channelCount, code: .malformedAudio)
    let isKnown = tag == 1 && [8, 16, 24, 32].contains(bits) || tag == 3 && [32, 64].contains(bits)
    guard isKnown else {
      throw ApusError(
        .unsupportedAudio,
        "the format is \(tag)\(Self.formats[tag].map { " (\($0))" } ?? "") with \(bits) bits, "
          + "not 1 (integers of 8 to 32 bits) or 3 (floats of 32 or 64)" + Self.advice)
    }
    guard frameByteCount == channelCount * bits / 8 else {
      throw ApusError(
        .malformedAudio,
        "byte \(start): \(channelCount) channels of \(bits) bits take \(channelCount * bits / 8) bytes, "
          + "not \(frameByteCount)")
    }
    return Layout(
      isFloat: tag == 3, sampleByteCount: bits / 8, channelCount: channelCount, sampleRate: sampleRate)
  }

  private func samples(_ start: Int, _ length: Int, _ layout: Layout) throws(ApusError) -> AudioClip {
    // An incomplete frame at the end is left out.
    let frames = length / (layout.sampleByteCount * layout.channelCount)
    let count = frames * layout.channelCount
    guard count <= AudioClip.maximumSampleCount else {
      throw ApusError(.resourceLimit, "\(count) samples are more than \(AudioClip.maximumSampleCount)")
    }
    var samples = [Float](repeating: 0, count: count)
    var output = samples.mutableSpan
    for index in 0..<count {
      let place = start + index * layout.sampleByteCount
      output[index] =
        switch (layout.isFloat, layout.sampleByteCount) {
        case (true, 4): Float(bitPattern: uint32(place))
        case (true, _):
          Float(Double(bitPattern: UInt64(uint32(place)) | UInt64(uint32(place + 4)) << 32))
        case (false, 1): Float(Int32(bytes[place]) - 128) / 128
        case (false, 2): Float(Int16(truncatingIfNeeded: uint16(place))) / 32_768
        case (false, 3):
          // The three bytes at the top of a word, so that the sign is in its place.
          Float(Int32(bitPattern: UInt32(uint16(place)) << 8 | UInt32(bytes[place + 2]) << 24))
            / 2_147_483_648
        default: Float(Int32(bitPattern: uint32(place))) / 2_147_483_648
        }
      guard output[index].isFinite else {
        throw ApusError(.malformedAudio, "byte \(place): the sample is not a finite number")
      }
    }
    return AudioClip(trusted: samples, sampleRate: layout.sampleRate, channelCount: layout.channelCount)
  }

  // MARK: Numbers, little-endian; the caller has checked the place

  private func text(_ place: Int) -> String { String(decoding: bytes[place..<place + 4], as: UTF8.self) }

  private func uint16(_ place: Int) -> Int { Int(bytes[place]) | Int(bytes[place + 1]) << 8 }

  private func uint32(_ place: Int) -> UInt32 {
    UInt32(uint16(place)) | UInt32(uint16(place + 2)) << 16
  }
}

extension AudioClip {
  /// Reads a WAV file: integers of 8, 16, 24 or 32 bits, or floats, of any number of channels up to 64.
  ///
  /// - Throws: `unreadableFile`, `malformedAudio` for damage, `unsupportedAudio` for another kind of file, or `resourceLimit`.
  public init(contentsOfFile path: String) throws(ApusError) {
    let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize)
    do { try self.init(decoding: bytes) } catch {
      throw ApusError(error.code, "the sound '\(path)': \(error.message)")
    }
  }

  /// Decodes the bytes of a WAV file.
  ///
  /// - Throws: `malformedAudio` for damage, `unsupportedAudio` for another kind of file, or `resourceLimit`.
  public init(decoding bytes: [UInt8]) throws(ApusError) { self = try WAVDecoder.decode(bytes) }
}
