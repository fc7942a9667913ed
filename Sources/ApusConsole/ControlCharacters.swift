// SPDX-License-Identifier: Apache-2.0

/// Text of a file, which may have any character, as a part of one line: a space stands for whatever ends lines or commands
/// terminals.
package func oneLine(_ text: String) -> String {
  withoutControls(text, replacement: " ", keepsLines: false)
}

/// A text in which a replacement stands for each control character, but for line feeds where those are kept.
func withoutControls(_ text: String, replacement: Unicode.Scalar, keepsLines: Bool) -> String {
  guard mayHaveControls(text.utf8, besidesLines: keepsLines) else { return text }
  let scalars = text.unicodeScalars.map { isControl($0) && !(keepsLines && $0 == "\n") ? replacement : $0 }
  return String(String.UnicodeScalarView(scalars))
}

/// JSON in which escapes stand for the control characters that its encoder leaves as they are.
func escapingControls(in json: String) -> String {
  guard mayHaveControls(json.utf8) else { return json }
  var result = ""
  for scalar in json.unicodeScalars {
    if isControl(scalar) {
      let digits = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// Whether a character ends a line, commands a terminal, or changes the direction of what follows it.
private func isControl(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
  default: false
  }
}

/// Whether bytes may begin such a character: nearly no text has any.
private func mayHaveControls(_ bytes: String.UTF8View, besidesLines: Bool = false) -> Bool {
  var previous: UInt8 = 0
  for byte in bytes {
    if byte < 0x20 && !(besidesLines && byte == 0x0A) || byte == 0x7F || previous == 0xC2 && byte < 0xA0
      || previous == 0xE2 && byte <= 0x81
    {
      return true
    }
    previous = byte
  }
  return false
}
