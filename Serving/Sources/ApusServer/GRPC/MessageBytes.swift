// SPDX-License-Identifier: Apache-2.0
import GRPCCore

/// Messages as their bytes, for methods whose few fields are read and written by hand.
struct MessageBytes: MessageSerializer, MessageDeserializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }

  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] {
    bytes.withUnsafeBytes { Array($0) }
  }

  /// A field of text or of a message within a message, of at most 127 bytes.
  static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    precondition(content.count < 128)
    return [number << 3 | 2, UInt8(content.count)] + content
  }

  /// The text of a field that begins a message, and what follows it; nil for another beginning.
  static func text(_ number: UInt8, of message: [UInt8]) -> (text: String, rest: ArraySlice<UInt8>)? {
    guard message.first == number << 3 | 2 else { return nil }
    var (length, place) = (0, 1)
    while place < min(message.count, 5) {
      let byte = message[place]
      length |= Int(byte & 0x7F) << (7 * (place - 1))
      place += 1
      if byte < 0x80 { break }
    }
    guard length <= message.count - place else { return nil }
    return (
      String(decoding: message[place..<place + length], as: UTF8.self), message[(place + length)...]
    )
  }
}
