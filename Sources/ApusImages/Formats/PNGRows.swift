// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import ApusVision

/// The samples of a PNG as the file has them, without colors or gamma.
///
/// Source: Portable Network Graphics (PNG) Specification, third edition, sections 7 to 10.
struct PNGRows {
  /// The part of a picture that an interlaced file has at a time; the whole picture in others.
  struct Pass {
    let x: Int
    let y: Int
    let stepX: Int
    let stepY: Int

    fileprivate static let whole = [Pass(x: 0, y: 0, stepX: 1, stepY: 1)]
    fileprivate static let adam7 = [
      Pass(x: 0, y: 0, stepX: 8, stepY: 8), Pass(x: 4, y: 0, stepX: 8, stepY: 8),
      Pass(x: 0, y: 4, stepX: 4, stepY: 8), Pass(x: 2, y: 0, stepX: 4, stepY: 4),
      Pass(x: 0, y: 2, stepX: 2, stepY: 4), Pass(x: 1, y: 0, stepX: 2, stepY: 2),
      Pass(x: 0, y: 1, stepX: 1, stepY: 2),
    ]

    func width(of width: Int) -> Int { (width - x + stepX - 1) / stepX }
    func height(of height: Int) -> Int { (height - y + stepY - 1) / stepY }
  }

  /// The parts of the picture, in the order of the file.
  private let passes: [Pass]
  private let width: Int
  private let height: Int
  /// The bits of a pixel.
  private let pixelBits: Int
  private var rows: [UInt8] = []

  /// The bytes that all rows take, each with its filter in front.
  private var byteCount: Int {
    passes.filter { $0.width(of: width) > 0 }.reduce(0) {
      $0 + $1.height(of: height) * (1 + rowByteCount(of: $1))
    }
  }

  /// Decodes the rows of a file.
  ///
  /// - Parameters:
  ///   - channels: The samples of a pixel.
  ///   - sampleBits: The bits of a sample.
  ///   - extraByteCount: What the caller takes besides.
  /// - Throws: `malformedImage` for damage, or `resourceLimit` if the system refuses memory.
  init(
    _ bytes: [UInt8], width: Int, height: Int, channels: Int, sampleBits: Int, isInterlaced: Bool,
    extraByteCount: Int
  ) throws(ApusError) {
    (self.width, self.height) = (width, height)
    pixelBits = channels * sampleBits
    passes = isInterlaced ? Pass.adam7 : Pass.whole
    let byteCount = byteCount
    // Deflate expands by 1,032 at most.
    guard byteCount / 1_032 <= bytes.count else {
      throw ApusError(
        .malformedImage, "\(bytes.count) bytes are too few for a PNG of \(width) × \(height) pixels")
    }
    try requireMemory(byteCount + extraByteCount, for: "a picture of \(width) × \(height) pixels")
    rows = try Self.inflated(bytes, byteCount: byteCount)
    try unfilter()
  }

  private func rowByteCount(of pass: Pass) -> Int { (pass.width(of: width) * pixelBits + 7) / 8 }

  /// Calls `body` with each row: its pass, its number in it, how many pixels it has, and where in `bytes` it begins.
  func forEachRow(_ body: (_ bytes: [UInt8], Pass, _ line: Int, _ columns: Int, _ start: Int) -> Void) {
    var start = 0
    for pass in passes where pass.width(of: width) > 0 {
      for line in 0..<pass.height(of: height) {
        body(rows, pass, line, pass.width(of: width), start + 1)
        start += 1 + rowByteCount(of: pass)
      }
    }
  }

  /// The filtered rows of all passes, from the data chunks.
  private static func inflated(_ bytes: [UInt8], byteCount: Int) throws(ApusError) -> [UInt8] {
    var data: [UInt8] = []
    for chunk in PNGChunks(bytes) where chunk.type == "IDAT" {
      let whole = bytes[chunk.whole.lowerBound + 4..<chunk.data.upperBound]
      let sum = bytes[chunk.data.upperBound..<chunk.whole.upperBound].reduce(0) { $0 << 8 | UInt32($1) }
      guard CRC32.checksum(Array(whole)) == sum else {
        throw ApusError(
          .malformedImage, "the PNG's data at byte \(chunk.data.lowerBound) has a wrong checksum")
      }
      data += bytes[chunk.data]
    }
    guard data.count > 6, data[0] & 15 == 8, data[1] & 32 == 0,
      (Int(data[0]) << 8 | Int(data[1])).isMultiple(of: 31)
    else {
      throw ApusError(.malformedImage, "the PNG ends early, or its data is not compressed with deflate")
    }
    do { return try Inflate.inflate(data[2...], expectedSize: byteCount) } catch {
      throw ApusError(.malformedImage, "the PNG's data: \(error.message)")
    }
  }

  private mutating func unfilter() throws(ApusError) {
    var start = 0
    for pass in passes where pass.width(of: width) > 0 {
      let byteCount = rowByteCount(of: pass)
      for line in 0..<pass.height(of: height) {
        try unfilter(at: start, byteCount: byteCount, hasUpper: line > 0)
        start += 1 + byteCount
      }
    }
  }

  /// Adds to a row what its filter took away; the byte at `start` names the filter.
  private mutating func unfilter(at start: Int, byteCount: Int, hasUpper: Bool) throws(ApusError) {
    let filter = rows[start]
    guard filter <= 4 else { throw ApusError(.malformedImage, "a row of the PNG has the filter \(filter)") }
    if filter == 0 { return }
    let step = max(pixelBits / 8, 1)
    for index in start + 1..<start + 1 + byteCount {
      let isFirst = index - start <= step
      let left = isFirst ? 0 : Int(rows[index - step])
      let up = hasUpper ? Int(rows[index - 1 - byteCount]) : 0
      let upLeft = isFirst || !hasUpper ? 0 : Int(rows[index - 1 - byteCount - step])
      let prediction =
        switch filter {
        case 1: left
        case 2: up
        case 3: (left + up) / 2
        default: Self.paeth(left, up, upLeft)
        }
      rows[index] &+= UInt8(prediction)
    }
  }

  private static func paeth(_ left: Int, _ up: Int, _ upLeft: Int) -> Int {
    let (toLeft, toUp, toUpLeft) = (abs(up - upLeft), abs(left - upLeft), abs(left + up - 2 * upLeft))
    return toLeft <= toUp && toLeft <= toUpLeft ? left : toUp <= toUpLeft ? up : upLeft
  }
}
