// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Writes JSON into a buffer; commas are put where they belong.
///
/// JSON has no NaN and no infinity: both are written as `null`.
public struct JSONWriter {
  /// The text so far.
  public private(set) var buffer: ByteBuffer
  private var needsComma = false

  /// Makes a writer with room for some bytes.
  public init(capacity: Int = 512) { buffer = ByteBufferAllocator().buffer(capacity: capacity) }

  private mutating func separate() {
    if needsComma { buffer.writeInteger(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes an object; `body` writes its keys and values.
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    separate()
    buffer.writeInteger(UInt8(ascii: "{"))
    needsComma = false
    body(&self)
    buffer.writeInteger(UInt8(ascii: "}"))
    needsComma = true
  }

  /// Writes an array; `body` writes its elements.
  public mutating func array(_ body: (inout JSONWriter) -> Void) {
    separate()
    buffer.writeInteger(UInt8(ascii: "["))
    needsComma = false
    body(&self)
    buffer.writeInteger(UInt8(ascii: "]"))
    needsComma = true
  }

  /// Writes a key; a value must follow.
  public mutating func key(_ name: String) {
    separate()
    quote(name)
    buffer.writeInteger(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a string.
  public mutating func string(_ text: String) {
    separate()
    quote(text)
  }

  private mutating func quote(_ text: String) {
    buffer.writeInteger(UInt8(ascii: "\""))
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) {
      buffer.writeString(text)
    } else {
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": buffer.writeString("\\\"")
        case "\\": buffer.writeString("\\\\")
        case "\n": buffer.writeString("\\n")
        case "\t": buffer.writeString("\\t")
        case "\r": buffer.writeString("\\r")
        case _ where PrintableText.isPrintable(scalar): buffer.writeString(String(scalar))
        default: buffer.writeString(PrintableText.escape(scalar))
        }
      }
    }
    buffer.writeInteger(UInt8(ascii: "\""))
  }

  /// Writes a whole number.
  public mutating func integer(_ value: some FixedWidthInteger) {
    separate()
    buffer.writeString(String(value))
  }

  /// Writes a number by the shortest digits that give it back; NaN and infinity as `null`.
  public mutating func number(_ value: some BinaryFloatingPoint & CustomStringConvertible) {
    separate()
    buffer.writeString(value.isFinite ? value.description : "null")
  }

  /// Writes `true` or `false`.
  public mutating func bool(_ value: Bool) {
    separate()
    buffer.writeString(value ? "true" : "false")
  }

  /// Writes `null`.
  public mutating func null() {
    separate()
    buffer.writeString("null")
  }

  /// Writes a value that is JSON already.
  public mutating func raw(_ json: ByteBuffer) {
    separate()
    buffer.writeImmutableBuffer(json)
  }
}

extension JSONWriter {
  /// Writes a key and a string.
  public mutating func field(_ name: String, _ text: String) {
    key(name)
    string(text)
  }

  /// Writes a key and a whole number.
  public mutating func field(_ name: String, _ value: some FixedWidthInteger) {
    key(name)
    integer(value)
  }

  /// Writes a key and a boolean.
  public mutating func field(_ name: String, _ value: Bool) {
    key(name)
    bool(value)
  }

  /// Writes a key and an array of whole numbers.
  public mutating func field(_ name: String, _ values: [Int]) {
    key(name)
    array { writer in for value in values { writer.integer(value) } }
  }
}
