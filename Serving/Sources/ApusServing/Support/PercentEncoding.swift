// SPDX-License-Identifier: Apache-2.0

/// Percent-encoding of addresses and forms (RFC 3986, section 2.1).
public enum PercentEncoding {
  /// The text, byte by byte as it stands; nil for a percent sign without two digits, and for bytes that are no UTF-8.
  ///
  /// Foundation's `removingPercentEncoding` takes a byte order mark away, so that two names would mean the same.
  public static func decoded(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Decodes the name or value of a form or query, where a plus sign stands for a space.
  public static func decodedField(_ text: some StringProtocol) -> String? {
    decoded(String(text.map { $0 == "+" ? " " : $0 }))
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
