// SPDX-License-Identifier: Apache-2.0

/// A structure of Video4Linux, as the bytes that go to the driver and come back. All its fields are 32-bit words, lowest byte
/// first, or texts. What a driver writes is not trusted.
struct V4L2Structure: Hashable, Sendable {
  private(set) var bytes: [UInt8]

  /// A structure of zeros.
  init(byteCount: Int) { bytes = [UInt8](repeating: 0, count: byteCount) }

  /// Gives the bytes to a function that fills them.
  mutating func pass(_ body: (inout [UInt8]) -> Int32) -> Int32 { body(&bytes) }

  /// The word at an offset; 0 beyond the end.
  subscript(offset: Int) -> UInt32 {
    get {
      guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
      return (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }
    set {
      guard offset >= 0, offset + 4 <= bytes.count else { return }
      for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: newValue >> UInt32(8 * index)) }
    }
  }

  /// The text at an offset, up to its zero byte or its longest.
  func text(at offset: Int, count: Int) -> String {
    let field = bytes.dropFirst(offset).prefix(count)
    return String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The four letters at an offset; what is no visible letter becomes a question mark. Forms whose words have the highest byte first end
  /// in `-BE`.
  func code(at offset: Int) -> String {
    var letters = Array(bytes.dropFirst(offset).prefix(4))
    guard let last = letters.last else { return "" }
    letters[letters.count - 1] = last & 0x7F
    while letters.last == 0x20 { letters.removeLast() }
    return String(decoding: letters.map { (0x21...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
      + (last & 0x80 == 0 ? "" : "-BE")
  }
}
