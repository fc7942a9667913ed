// SPDX-License-Identifier: Apache-2.0

import Apus

/// The escapes in quoted texts, which JSON, Python, YAML and protocol buffer text have in common.
enum LabelEscape {
  /// Resolves the escape whose backslash is before `position`, and moves behind it.
  ///
  /// - Throws: `malformedLabels` with the line for an escape that is no character.
  static func append(
    _ text: ArraySlice<UInt8>, _ position: inout Int, to contents: inout [UInt8], line: Int
  ) throws(ApusError) {
    func failure(_ message: String) -> ApusError {
      ApusError(.malformedLabels, "line \(line): \(message)")
    }
    func digits(_ radix: UInt32, _ range: ClosedRange<Int>) throws(ApusError) -> UInt32 {
      var (value, count) = (UInt32(0), 0)
      while count < range.upperBound, position < text.endIndex,
        let digit = Character(UnicodeScalar(text[position])).hexDigitValue, digit < radix
      {
        value = value &* radix &+ UInt32(digit)
        position += 1
        count += 1
      }
      guard count >= range.lowerBound else {
        throw failure("an escape has \(count) digits, not \(range.lowerBound)")
      }
      return value
    }
    func scalar(_ value: UInt32) throws(ApusError) -> [UInt8] {
      guard let scalar = Unicode.Scalar(value) else { throw failure("an escape is no character") }
      return Array(String(scalar).utf8)
    }
    func byte(_ value: UInt32) throws(ApusError) -> UInt8 {
      guard value <= 255 else { throw failure("an escape is not a byte") }
      return UInt8(value)
    }
    guard position < text.endIndex else { throw failure("a text is not closed") }
    let escape = text[position]
    position += 1
    switch escape {
    case UInt8(ascii: "a"): contents.append(0x07)
    case UInt8(ascii: "b"): contents.append(0x08)
    case UInt8(ascii: "t"): contents.append(0x09)
    case UInt8(ascii: "n"): contents.append(0x0A)
    case UInt8(ascii: "v"): contents.append(0x0B)
    case UInt8(ascii: "f"): contents.append(0x0C)
    case UInt8(ascii: "r"): contents.append(0x0D)
    case UInt8(ascii: "x"), UInt8(ascii: "X"): contents.append(try byte(digits(16, 1...2)))
    case 0x30...0x37:
      position -= 1
      contents.append(try byte(digits(8, 1...3)))
    case UInt8(ascii: "U"): contents += try scalar(digits(16, 8...8))
    case UInt8(ascii: "u"):
      var value = try digits(16, 4...4)
      // Two halves of a surrogate pair are one character.
      if (0xD800..<0xDC00).contains(value), text[position...].starts(with: [0x5C, UInt8(ascii: "u")]) {
        position += 2
        let low = try digits(16, 4...4)
        guard (0xDC00..<0xE000).contains(low) else { throw failure("an escape is half a character") }
        value = 0x1_0000 + (value - 0xD800) << 10 + low - 0xDC00
      }
      contents += try scalar(value)
    default: contents.append(escape)
    }
  }
}
