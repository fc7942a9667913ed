// SPDX-License-Identifier: Apache-2.0

/// The chunks of a PNG up to its end or to the first that is damaged.
struct PNGChunks: Sequence, IteratorProtocol {
  /// A chunk: its four letters, and where its data and all of it lie in the file.
  struct Chunk {
    let type: String
    let data: Range<Int>
    let whole: Range<Int>
  }

  /// The chunks that say what samples mean as light. Decoders of pictures for models take samples as they are.
  private static let colorSpaceTypes: Set = ["gAMA", "cHRM", "sRGB", "iCCP", "cICP"]

  private let bytes: [UInt8]
  private var position = 8

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func next() -> Chunk? {
    guard bytes.count - position >= 12 else { return nil }
    let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    guard length <= bytes.count - position - 12 else { return nil }
    let whole = position..<position + 12 + length
    position = whole.upperBound
    return Chunk(
      type: String(decoding: bytes[whole.lowerBound + 4..<whole.lowerBound + 8], as: UTF8.self),
      data: whole.lowerBound + 8..<whole.upperBound - 4, whole: whole)
  }

  /// The file without the chunks that say what samples mean as light.
  static func withoutColorSpace(_ bytes: [UInt8]) -> [UInt8] {
    // They come before the samples.
    let found = PNGChunks(bytes).prefix { $0.type != "IDAT" }.filter { colorSpaceTypes.contains($0.type) }
    if found.isEmpty { return bytes }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var start = 0
    for chunk in found {
      result += bytes[start..<chunk.whole.lowerBound]
      start = chunk.whole.upperBound
    }
    return result + bytes[start...]
  }
}
