// SPDX-License-Identifier: Apache-2.0

/// Text as terminals and readers of lines may see it.
///
/// Names come from files and from clients: a line break in one would forge a line of a log, an escape sequence would command a
/// terminal, and a mark of direction would reorder what stands beside it.
public enum PrintableText {
  /// Whether a character is drawn, and changes nothing but its own place.
  public static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  /// A text with every other character as JSON escapes it, such as `\u001b`.
  public static func escaped(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy(isPrintable) { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if isPrintable(scalar) { result.unicodeScalars.append(scalar) } else { result += escape(scalar) }
    }
  }

  /// JSON with every such character of its strings escaped: the same values in other bytes.
  ///
  /// JSON has none outside of strings, but for the breaks between its values.
  public static func escapedJSON(_ json: String) -> String {
    if json.utf8.allSatisfy({ $0 < 0x7F }) { return json }
    return json.unicodeScalars.reduce(into: "") { result, scalar in
      if scalar.value < 0x20 || isPrintable(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += escape(scalar)
      }
    }
  }

  /// A character as JSON escapes it: one code unit of UTF-16, or two.
  static func escape(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.reduce(into: "") { result, unit in
      let digits = String(unit, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
}
