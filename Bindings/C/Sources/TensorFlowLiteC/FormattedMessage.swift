// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension String {
  /// A format of `printf` with its arguments.
  ///
  /// A conversion that this function does not know ends the message, with the rest of the format as it stands: what it takes of the
  /// arguments is unknown, so no later one can be followed.
  init<Arguments: VariableArguments>(format: UnsafePointer<CChar>, _ arguments: inout Arguments) {
    let format = Array(UnsafeBufferPointer(start: format, count: strlen(format)))
    var bytes: [UInt8] = []
    var position = 0
    while position < format.count {
      guard format[position] == CChar(Conversion.percent) else {
        bytes.append(UInt8(bitPattern: format[position]))
        position += 1
        continue
      }
      guard let conversion = Conversion(format[position...]) else {
        bytes += format[position...].map { UInt8(bitPattern: $0) }
        break
      }
      guard let text = conversion.text(&arguments) else {
        bytes += "…".utf8
        break
      }
      bytes += text
      position += conversion.byteCount
    }
    self.init(decoding: bytes, as: UTF8.self)
  }
}

/// A conversion of a format: `%`, flags, width, precision, the size of the argument, and a letter.
private struct Conversion {
  static let percent = UInt8(ascii: "%")

  /// The width or the precision.
  private enum Amount {
    case number(Int32)
    /// `*`: an argument says it.
    case argument
  }

  private enum Kind { case percent, signed, unsigned, pointer, character, text, float, nothing }

  /// How many bytes of the format it takes.
  let byteCount: Int

  private let kind: Kind
  private let letter: UInt8
  private let flags: [UInt8]
  private let width: Amount?
  private let precision: Amount?
  /// The bytes of an integer.
  private let size: Int

  /// The conversion at the beginning of a text; nil if it is none that this type knows.
  init?(_ format: ArraySlice<CChar>) {
    var rest = format.dropFirst().map { UInt8(bitPattern: $0) }[...]
    flags = Array(rest.prefix { "-+ #0".utf8.contains($0) })
    rest = rest.dropFirst(flags.count)
    width = Self.amount(&rest)
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      precision = Self.amount(&rest) ?? .number(0)
    } else {
      precision = nil
    }
    let modifier = rest.prefix { "hlqjzt".utf8.contains($0) }
    rest = rest.dropFirst(modifier.count)
    switch Array(modifier) {
    case []: size = 4
    case Array("h".utf8): size = 2
    case Array("hh".utf8): size = 1
    default: size = 8
    }
    guard let letter = rest.first else { return nil }
    self.letter = letter
    switch letter {
    case UInt8(ascii: "%"): kind = .percent
    case UInt8(ascii: "d"), UInt8(ascii: "i"): kind = .signed
    case UInt8(ascii: "u"), UInt8(ascii: "o"), UInt8(ascii: "x"), UInt8(ascii: "X"): kind = .unsigned
    case UInt8(ascii: "p"): kind = .pointer
    case UInt8(ascii: "c") where modifier.isEmpty: kind = .character
    case UInt8(ascii: "s") where modifier.isEmpty: kind = .text
    case UInt8(ascii: "n"): kind = .nothing
    case let letter where "fFeEgGaA".utf8.contains(letter): kind = .float
    default: return nil
    }
    byteCount = format.count - rest.count + 1
  }

  private static func amount(_ rest: inout ArraySlice<UInt8>) -> Amount? {
    if rest.first == UInt8(ascii: "*") {
      rest.removeFirst()
      return .argument
    }
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest.dropFirst(digits.count)
    if digits.isEmpty { return nil }
    return .number(
      digits.reduce(Int32(0)) { min($0, 1 << 20) * 10 + Int32($1 - UInt8(ascii: "0")) })
  }

  /// The text of the arguments; nil if they are missing.
  func text<Arguments: VariableArguments>(_ arguments: inout Arguments) -> [UInt8]? {
    if kind == .percent { return [Self.percent] }
    var flags = flags
    guard var width = Self.value(self.width, &arguments),
      let precision = Self.value(self.precision, &arguments)
    else { return nil }
    if let value = width, value < 0 {
      flags.append(UInt8(ascii: "-"))
      width = -max(value, -Self.maximum)
    }
    // A client may ask for any number.
    let limits = (width: min(width ?? 0, Self.maximum), precision: min(precision ?? -1, Self.maximum))
    switch kind {
    case .percent: return [Self.percent]
    case .nothing: return arguments.nextWord().map { _ in [] }
    case .float:
      return arguments.nextFloat().flatMap { formatted($0, flags, limits) }
    case .text:
      return arguments.nextWord().flatMap { word in
        guard let text = UnsafePointer<CChar>(bitPattern: word) else { return Array("(null)".utf8) }
        let count = limits.precision < 0 ? strlen(text) : strnlen(text, Int(limits.precision))
        let bytes = UnsafeRawBufferPointer(start: text, count: count)
        let padding = [UInt8](repeating: UInt8(ascii: " "), count: max(Int(limits.width) - count, 0))
        return flags.contains(UInt8(ascii: "-")) ? bytes + padding : padding + bytes
      }
    case .signed:
      return arguments.nextWord().flatMap { word in
        let value: Int =
          switch size {
          case 1: Int(Int8(truncatingIfNeeded: word))
          case 2: Int(Int16(truncatingIfNeeded: word))
          case 4: Int(Int32(truncatingIfNeeded: word))
          default: word
          }
        return formatted(value, flags, limits)
      }
    case .unsigned:
      return arguments.nextWord().flatMap { word in
        let value: UInt =
          switch size {
          case 1: UInt(UInt8(truncatingIfNeeded: word))
          case 2: UInt(UInt16(truncatingIfNeeded: word))
          case 4: UInt(UInt32(truncatingIfNeeded: word))
          default: UInt(bitPattern: word)
          }
        return formatted(value, flags, limits)
      }
    case .pointer, .character: return arguments.nextWord().flatMap { formatted($0, flags, limits) }
    }
  }

  /// The maximum of widths and precisions.
  private static let maximum: Int32 = 4096

  /// The width or precision; `.some(nil)` if there is none, nil if its argument is missing.
  private static func value<Arguments: VariableArguments>(
    _ amount: Amount?, _ arguments: inout Arguments
  ) -> Int32?? {
    switch amount {
    case nil: .some(nil)
    case .number(let number): .some(number)
    case .argument: arguments.nextWord().map { Optional(Int32(truncatingIfNeeded: $0)) }
    }
  }

  /// One number as the system's own `printf` writes it.
  private func formatted(
    _ value: some CVarArg, _ flags: [UInt8], _ limits: (width: Int32, precision: Int32)
  ) -> [UInt8]? {
    let isInteger = kind == .signed || kind == .unsigned
    let format =
      "%\(String(decoding: flags, as: UTF8.self))*.*\(isInteger ? "l" : "")\(Character(Unicode.Scalar(letter)))"
    func written(to buffer: UnsafeMutableBufferPointer<CChar>) -> Int {
      withVaList([limits.width, limits.precision, value]) {
        Int(vsnprintf(buffer.baseAddress, buffer.count, format, $0))
      }
    }
    var buffer = [CChar](repeating: 0, count: 128)
    var count = buffer.withUnsafeMutableBufferPointer { written(to: $0) }
    if count >= buffer.count {
      buffer = [CChar](repeating: 0, count: count + 1)
      count = buffer.withUnsafeMutableBufferPointer { written(to: $0) }
    }
    guard count >= 0, count < buffer.count else { return nil }
    return buffer[..<count].map { UInt8(bitPattern: $0) }
  }
}
