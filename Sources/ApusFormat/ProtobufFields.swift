// SPDX-License-Identifier: Apache-2.0

/// The fields of a message in the form of protocol buffers, one after the other.
///
/// Nothing is copied: a field that is a message or a text is a part of the bytes.
package struct ProtobufFields {
  /// A field's number in the message's description, and its value.
  package struct Field {
    /// The number, from 1.
    package let number: Int
    /// The value.
    package let value: Value
  }

  /// The value of a field, in one of the four forms that there are.
  package enum Value {
    /// An integer of any length.
    case varint(UInt64)
    /// Eight bytes.
    case fixed64(UInt64)
    /// Four bytes.
    case fixed32(UInt32)
    /// A message, a text, or numbers behind one another.
    case bytes(ArraySlice<UInt8>)
  }

  private var rest: ArraySlice<UInt8>

  /// Reads the fields of a message.
  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next field; nil at the end.
  ///
  /// Throws if it is cut off or none.
  package mutating func next() throws(FormatError) -> Field? {
    guard !rest.isEmpty else { return nil }
    let place = rest.startIndex
    let key = try varint()
    guard key >> 3 > 0, key >> 3 < 1 << 29 else {
      throw FormatError("protocol buffer: byte \(place) begins field \(key >> 3), which cannot be")
    }
    let value: Value =
      switch key & 7 {
      case 0: .varint(try varint())
      case 1: .fixed64(number(try take(8)))
      case 2:
        .bytes(try take(try varint()))
      case 5: .fixed32(UInt32(truncatingIfNeeded: number(try take(4))))
      default:
        throw FormatError(
          "protocol buffer: the field at byte \(place) has the wire type \(key & 7), which is none")
      }
    return Field(number: Int(key >> 3), value: value)
  }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func take(_ count: UInt64) throws(FormatError) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else {
      throw FormatError(
        "protocol buffer: a field has \(count) bytes at byte \(rest.startIndex), where \(rest.count) are left"
      )
    }
    let taken = rest.prefix(Int(count))
    rest = rest.dropFirst(taken.count)
    return taken
  }

  private mutating func varint() throws(FormatError) -> UInt64 {
    let place = rest.startIndex
    var value: UInt64 = 0
    for shift: UInt64 in stride(from: 0, to: 64, by: 7) {
      guard let byte = rest.popFirst() else {
        throw FormatError("protocol buffer: the number at byte \(place) is cut off")
      }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw FormatError("protocol buffer: the number at byte \(place) has more than 10 bytes")
  }
}
