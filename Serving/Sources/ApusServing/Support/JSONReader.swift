// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Reads JSON strictly (RFC 8259), a value at a time, without building a tree.
///
/// Errors name the place by line and column. Nesting is limited, so that no text can exhaust the stack.
struct JSONReader {
  private let bytes: [UInt8]
  /// Where the next character is.
  private(set) var position = 0
  private var depth = 0

  private static let maximumDepth = 100
  /// A key takes a hundred bytes, however short it is.
  private static let maximumKeys = 1_024

  /// Reads the text of these bytes.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: Characters

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  /// The next character that is not space, or nil at the end.
  mutating func peek() -> UInt8? {
    skipSpace()
    return position < bytes.count ? bytes[position] : nil
  }

  /// An error at the next character.
  func failure(_ message: String) -> ServingError { failure(message, at: position) }

  private func failure(_ message: String, at place: Int) -> ServingError {
    var line = 1
    var column = 1
    for byte in bytes.prefix(place) {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return .bad("malformed JSON at line \(line), column \(column): \(message)")
  }

  private mutating func found() -> String {
    guard let next = peek() else { return "the end" }
    return next > 0x20 && next < 0x7F ? "'\(Character(UnicodeScalar(next)))'" : "a character of code \(next)"
  }

  private mutating func expect(_ character: UInt8, _ what: String) throws(ServingError) {
    guard peek() == character else {
      let found = found()
      throw failure("found \(found), expected \(what)")
    }
    position += 1
  }

  /// Takes a character if it is the next one.
  private mutating func take(_ character: UInt8) -> Bool {
    guard peek() == character else { return false }
    position += 1
    return true
  }

  /// Ends the text: nothing but space may follow.
  mutating func end() throws(ServingError) {
    guard peek() == nil else {
      let found = found()
      throw failure("found \(found) after the end of the document")
    }
  }

  /// A reader of the same text at another place.
  func at(_ place: Int) -> JSONReader {
    var reader = self
    reader.position = place
    reader.depth = 0
    return reader
  }

  // MARK: Containers

  /// Reads an object; `body` reads the value of each key.
  mutating func object(
    _ body: (String, inout JSONReader) throws(ServingError) -> Void
  ) throws(ServingError) {
    try expect(UInt8(ascii: "{"), "an object")
    try descend()
    defer { depth -= 1 }
    if take(UInt8(ascii: "}")) { return }
    // Bytes: strings that differ only in how they are composed are equal, keys are not.
    var keys: Set<[UInt8]> = []
    repeat {
      guard peek() == UInt8(ascii: "\"") else {
        let found = found()
        throw failure("found \(found), expected a key in quotes")
      }
      let place = position
      guard keys.count < Self.maximumKeys else {
        throw failure("an object has more than \(Self.maximumKeys) keys")
      }
      let key = try string()
      guard keys.insert(Array(key.utf8)).inserted else {
        throw failure("the key \"\(key)\" is repeated", at: place)
      }
      try expect(UInt8(ascii: ":"), "a colon after the key")
      try body(key, &self)
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"), "a comma or the end of the object")
  }

  /// Reads an array; `body` reads each element.
  mutating func array(_ body: (Int, inout JSONReader) throws(ServingError) -> Void) throws(ServingError) {
    try expect(UInt8(ascii: "["), "an array")
    try descend()
    defer { depth -= 1 }
    if take(UInt8(ascii: "]")) { return }
    var index = 0
    repeat {
      try body(index, &self)
      index += 1
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"), "a comma or the end of the array")
  }

  private mutating func descend() throws(ServingError) {
    depth += 1
    guard depth <= Self.maximumDepth else {
      throw failure("JSON nesting depth exceeds maximum allowed limit (\(Self.maximumDepth))")
    }
  }

  // MARK: Values

  /// Reads a string.
  mutating func string() throws(ServingError) -> String {
    String(decoding: try stringBytes(), as: UTF8.self)
  }

  /// Reads a string as UTF-8.
  mutating func stringBytes() throws(ServingError) -> [UInt8] {
    try expect(UInt8(ascii: "\""), "a string")
    let start = position
    // Most strings have no escapes: their bytes are taken as they are.
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        let text = Array(bytes[start..<position])
        try checkUTF8(text, at: start)
        position += 1
        return text
      }
      if byte == UInt8(ascii: "\\") { break }
      guard byte >= 0x20 else { throw failure("a control character in a string is not escaped") }
      position += 1
    }
    var text = Array(bytes[start..<position])
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        try checkUTF8(text, at: start)
        return text
      case UInt8(ascii: "\\"): try appendEscape(to: &text)
      case 0..<0x20:
        position -= 1
        throw failure("a control character in a string is not escaped")
      default: text.append(byte)
      }
    }
    throw failure("a string does not end")
  }

  private func checkUTF8(_ text: [UInt8], at place: Int) throws(ServingError) {
    guard String(validating: text, as: UTF8.self) != nil else {
      throw failure("a string is not UTF-8", at: place)
    }
  }

  private mutating func appendEscape(to text: inout [UInt8]) throws(ServingError) {
    guard position < bytes.count else { throw failure("a string does not end") }
    let escape = bytes[position]
    position += 1
    switch escape {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      var code = try hexadecimal()
      if (0xD800..<0xDC00).contains(code), position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
        bytes[position + 1] == UInt8(ascii: "u")
      {
        position += 2
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw failure("half a surrogate pair in a string") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = UnicodeScalar(code) else { throw failure("half a surrogate pair in a string") }
      text.append(contentsOf: String(Character(scalar)).utf8)
    default:
      position -= 1
      throw failure("an unknown escape in a string")
    }
  }

  private mutating func hexadecimal() throws(ServingError) -> UInt32 {
    guard position + 4 <= bytes.count else { throw failure("a string ends within an escape") }
    var code: UInt32 = 0
    for byte in bytes[position..<position + 4] {
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
        throw failure("an escape needs four hexadecimal digits")
      }
      code = code << 4 | UInt32(digit)
    }
    position += 4
    return code
  }

  /// Reads `true` or `false`.
  mutating func bool() throws(ServingError) -> Bool {
    if takeWord("true") { return true }
    if takeWord("false") { return false }
    let found = found()
    throw failure("found \(found), expected true or false")
  }

  private mutating func takeWord(_ word: StaticString) -> Bool {
    skipSpace()
    let length = word.utf8CodeUnitCount
    guard position + length <= bytes.count else { return false }
    let matches = word.withUTF8Buffer { characters in
      for index in 0..<length where bytes[position + index] != characters[index] { return false }
      return true
    }
    if matches { position += length }
    return matches
  }

  /// A number as it is written: an optional sign, digits, a fraction, an exponent.
  struct Number {
    /// The digits as a whole number, as far as they fit; the first 19 significant ones.
    var mantissa: UInt64 = 0
    /// The power of ten by which the mantissa is multiplied.
    var exponent = 0
    /// Whether it has a minus.
    var isNegative = false
    /// Whether digits were left out of the mantissa.
    var isTruncated = false
    /// Whether there is neither a fraction nor an exponent.
    var isWhole = true
    /// Its characters.
    var place: Range<Int> = 0..<0
  }

  /// Reads a number.
  mutating func number() throws(ServingError) -> Number {
    skipSpace()
    var number = Number()
    let start = position
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") {
      number.isNegative = true
      position += 1
    }
    guard let first = digit() else {
      position = start
      let found = found()
      throw failure("found \(found), expected a number")
    }
    if first == 0, position + 1 < bytes.count, (0x30...0x39).contains(bytes[position + 1]) {
      throw failure("a number begins with 0")
    }
    takeDigits(into: &number, areFraction: false)
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      number.isWhole = false
      guard digit() != nil else { throw failure("a number ends after its point") }
      takeDigits(into: &number, areFraction: true)
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      number.isWhole = false
      var isNegative = false
      if position < bytes.count, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+")
      {
        isNegative = bytes[position] == UInt8(ascii: "-")
        position += 1
      }
      guard digit() != nil else { throw failure("a number ends within its exponent") }
      var power = 0
      while let next = digit() {
        power = min(power * 10 + Int(next), 1 << 20)
        position += 1
      }
      number.exponent += isNegative ? -power : power
    }
    number.place = start..<position
    return number
  }

  private func digit() -> UInt8? {
    guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
    return bytes[position] - 0x30
  }

  private mutating func takeDigits(into number: inout Number, areFraction: Bool) {
    while let next = digit() {
      position += 1
      if number.mantissa < 1_000_000_000_000_000_000 {
        number.mantissa = number.mantissa * 10 + UInt64(next)
        if areFraction { number.exponent -= 1 }
      } else {
        if next != 0 { number.isTruncated = true }
        if !areFraction { number.exponent += 1 }
      }
    }
  }

  /// The value of a number, correctly rounded; infinite beyond the type's range.
  func double(_ number: Number) -> Double {
    if number.mantissa == 0, !number.isTruncated { return number.isNegative ? -0.0 : 0 }
    // Both operands are exact, so that the one rounding is the right one.
    if !number.isTruncated, number.mantissa <= 1 << 53, abs(number.exponent) <= 22 {
      let mantissa = Double(number.mantissa)
      let power = Self.powersOfTen[abs(number.exponent)]
      let value = number.exponent < 0 ? mantissa / power : mantissa * power
      return number.isNegative ? -value : value
    }
    return Double(String(decoding: bytes[number.place], as: UTF8.self)) ?? .nan
  }

  /// The number in single precision, rounded once: a double half-way between two floats may have been rounded to that.
  func float(_ number: Number) -> Float {
    let value = double(number)
    let isHalfWay = value.bitPattern & (1 << 29 - 1) == 1 << 28
    guard isHalfWay || abs(value) < Double(Float.leastNormalMagnitude), value != 0 else {
      return Float(value)
    }
    return Float(String(decoding: bytes[number.place], as: UTF8.self)) ?? .nan
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19,
    1e20, 1e21, 1e22,
  ]

  /// The text of a number.
  func text(_ number: Number) -> String { String(decoding: bytes[number.place].prefix(40), as: UTF8.self) }

  /// The value of a whole number, or nil: a fraction, an exponent, or beyond the type.
  func integer<T: FixedWidthInteger>(_ number: Number, as type: T.Type) -> T? {
    guard number.isWhole else { return nil }
    guard number.exponent == 0, !number.isTruncated else {
      return T(String(decoding: bytes[number.place], as: UTF8.self))
    }
    if number.isNegative {
      guard number.mantissa <= 1 << 63 else { return nil }
      return T(exactly: Int64(bitPattern: 0 &- number.mantissa))
    }
    return T(exactly: number.mantissa)
  }

  /// Reads a whole number of a type.
  mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws(ServingError) -> T {
    let number = try number()
    guard let value = integer(number, as: type) else {
      throw failure(
        "\(text(number)) is no whole number within \(T.min) to \(T.max)", at: number.place.lowerBound)
    }
    return value
  }

  /// Reads over a value of any kind, checking that it is well formed.
  mutating func skipValue() throws(ServingError) {
    switch peek() {
    case UInt8(ascii: "{"): try object { _, reader throws(ServingError) in try reader.skipValue() }
    case UInt8(ascii: "["): try array { _, reader throws(ServingError) in try reader.skipValue() }
    case UInt8(ascii: "\""): _ = try stringBytes()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
    case UInt8(ascii: "n"):
      guard takeWord("null") else { throw failure("found 'n', expected a value") }
    case nil: throw failure("the text ends where a value is expected")
    default:
      if takeWord("NaN") || takeWord("Infinity") || takeWord("-Infinity") {
        throw failure("NaN and Infinity are not JSON: send them as binary data")
      }
      _ = try number()
    }
  }
}
