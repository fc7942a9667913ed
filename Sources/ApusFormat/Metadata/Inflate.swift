// SPDX-License-Identifier: Apache-2.0

/// Decompression of the deflate format (RFC 1951).
package enum Inflate {
  /// Decompresses `bytes` to exactly `expectedSize` bytes.
  ///
  /// Throws if the stream is damaged, ends early, or makes another number of bytes; never holds more than
  /// `expectedSize` of them. Bytes behind the last block are ignored.
  package static func inflate(_ bytes: ArraySlice<UInt8>, expectedSize: Int) throws(FormatError) -> [UInt8] {
    do throws(FormatError) {
      var inflater = Inflater(Array(bytes), expectedSize)
      let output = try inflater.run()
      guard output.count == expectedSize else {
        throw FormatError("\(output.count) bytes came out, not \(expectedSize)")
      }
      return output
    } catch {
      throw error.inside("deflate")
    }
  }

  /// Decompresses `bytes` to at most `limit` bytes.
  ///
  /// Throws if the stream is damaged, ends early, or makes more bytes.
  package static func inflate(_ bytes: ArraySlice<UInt8>, limit: Int) throws(FormatError) -> [UInt8] {
    do throws(FormatError) {
      var inflater = Inflater(Array(bytes), limit)
      return try inflater.run()
    } catch {
      throw error.inside("deflate")
    }
  }

  /// Decompresses `bytes` to exactly `expectedSize` bytes.
  package static func inflate(_ bytes: [UInt8], expectedSize: Int) throws(FormatError) -> [UInt8] {
    try inflate(bytes[...], expectedSize: expectedSize)
  }
}

/// One decompression: a stream of bits, least significant first, and the output so far.
private struct Inflater {
  private let input: [UInt8]
  private var next = 0
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var output: [UInt8] = []
  private let limit: Int

  init(_ input: [UInt8], _ limit: Int) {
    self.input = input
    self.limit = limit
  }

  mutating func run() throws(FormatError) -> [UInt8] {
    // The format expands a byte to at most 1032, so a lie about the size costs no memory.
    let (most, overflow) = input.count.multipliedReportingOverflow(by: 1032)
    output.reserveCapacity(overflow ? limit : max(0, min(limit, most)))
    var isLast = false
    while !isLast {
      isLast = try read(1) == 1
      switch try read(2) {
      case 0: try stored()
      case 1: try compressed(HuffmanCode.fixedLiterals, HuffmanCode.fixedDistances)
      case 2:
        let (literals, distances) = try dynamicCodes()
        try compressed(literals, distances)
      default: throw FormatError("a block has the reserved type")
      }
    }
    return output
  }

  private mutating func read(_ count: Int) throws(FormatError) -> Int {
    while bitCount < count {
      guard next < input.count else { throw FormatError("the stream ends early") }
      bits |= UInt32(input[next]) << UInt32(bitCount)
      next += 1
      bitCount += 8
    }
    let value = bits & (1 << UInt32(count) - 1)
    bits >>= UInt32(count)
    bitCount -= count
    return Int(value)
  }

  private func reserve(_ count: Int) throws(FormatError) {
    guard count <= limit - output.count else {
      throw FormatError("more than \(limit) bytes come out")
    }
  }

  private mutating func stored() throws(FormatError) {
    bits = 0
    bitCount = 0
    let length = try read(16)
    guard try read(16) == length ^ 0xFFFF else { throw FormatError("a stored block's length is damaged") }
    guard length <= input.count - next else { throw FormatError("the stream ends early") }
    try reserve(length)
    output += input[next..<(next + length)]
    next += length
  }

  private mutating func symbol(_ code: HuffmanCode) throws(FormatError) -> Int {
    var walk = HuffmanCode.Walk()
    for _ in 0..<HuffmanCode.maximumLength {
      if let symbol = code.step(&walk, bit: try read(1)) { return symbol }
    }
    throw FormatError("a code stands for no symbol")
  }

  private mutating func compressed(_ literals: HuffmanCode, _ distances: HuffmanCode) throws(FormatError) {
    while true {
      let symbol = try symbol(literals)
      if symbol < 256 {
        try reserve(1)
        output.append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol - 257 < Self.lengths.count else {
        throw FormatError("the length symbol \(symbol) is unknown")
      }
      let (lengthBase, lengthBits) = Self.lengths[symbol - 257]
      let length = lengthBase + (try read(lengthBits))
      let distanceSymbol = try self.symbol(distances)
      guard distanceSymbol < Self.distances.count else {
        throw FormatError("the distance symbol \(distanceSymbol) is unknown")
      }
      let (distanceBase, distanceBits) = Self.distances[distanceSymbol]
      let distance = distanceBase + (try read(distanceBits))
      guard distance <= output.count else {
        throw FormatError("a copy reaches \(distance) bytes back, before the start")
      }
      try reserve(length)
      // One by one: a copy may overlap what it writes.
      let start = output.count - distance
      for index in start..<(start + length) { output.append(output[index]) }
    }
  }

  private mutating func dynamicCodes() throws(FormatError) -> (HuffmanCode, HuffmanCode) {
    let literalCount = try read(5) + 257
    let distanceCount = try read(5) + 1
    let lengthCount = try read(4) + 4
    guard literalCount <= 286, distanceCount <= 30 else {
      throw FormatError("a block has \(literalCount) literal and \(distanceCount) distance codes")
    }
    var codeLengths = [UInt8](repeating: 0, count: 19)
    for index in Self.codeLengthOrder.prefix(lengthCount) { codeLengths[index] = UInt8(try read(3)) }
    let code = try HuffmanCode(lengths: codeLengths[...], mayBeIncomplete: false)
    var lengths: [UInt8] = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try symbol(code)
      switch symbol {
      case 0...15: lengths.append(UInt8(symbol))
      case 16:
        guard let last = lengths.last else { throw FormatError("the first code length repeats another") }
        lengths += repeatElement(last, count: 3 + (try read(2)))
      case 17: lengths += repeatElement(0, count: 3 + (try read(3)))
      default: lengths += repeatElement(0, count: 11 + (try read(7)))
      }
    }
    guard lengths.count == literalCount + distanceCount else {
      throw FormatError("there are too many code lengths")
    }
    guard lengths[256] != 0 else { throw FormatError("a block cannot end") }
    return (
      try HuffmanCode(lengths: lengths[..<literalCount], mayBeIncomplete: true),
      try HuffmanCode(lengths: lengths[literalCount...], mayBeIncomplete: true)
    )
  }

  private static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  /// The minimum length of each symbol from 257 on, and the number of extra bits.
  private static let lengths: [(base: Int, bits: Int)] = {
    var table: [(base: Int, bits: Int)] = []
    var base = 3
    for index in 0..<28 {
      let bits = index < 8 ? 0 : index / 4 - 1
      table.append((base, bits))
      base += 1 << bits
    }
    // The longest copy has a symbol of its own.
    return table + [(258, 0)]
  }()

  /// The minimum distance of each symbol, and the number of extra bits.
  private static let distances: [(base: Int, bits: Int)] = {
    var table: [(base: Int, bits: Int)] = []
    var base = 1
    for index in 0..<30 {
      let bits = index < 4 ? 0 : index / 2 - 1
      table.append((base, bits))
      base += 1 << bits
    }
    return table
  }()
}
