// SPDX-License-Identifier: Apache-2.0

/// Reads what a frame holds, front to back. The driver is trusted: a frame that is too short ends the program.
struct FrameReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func integer() -> Int {
    defer { position += 4 }
    return Int(
      Int32(truncatingIfNeeded: bytes[position..<position + 4].reversed().reduce(0) { $0 << 8 | Int($1) }))
  }

  mutating func array() -> [UInt8] {
    let count = integer()
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func text() -> String { String(decoding: array(), as: UTF8.self) }
}

/// Writes a frame, front to back.
struct FrameWriter {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ value: UInt32) {
    for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func add(_ value: Int) { add(UInt32(truncatingIfNeeded: value)) }

  mutating func add(_ array: [UInt8]) {
    add(array.count)
    bytes += array
  }

  mutating func add(_ text: String) { add(Array(text.utf8)) }
}
