// SPDX-License-Identifier: Apache-2.0
import NIOHTTP1

extension Refusal {
  /// Whether a request's target has a form that its method may have (RFC 9112, section 3.2).
  static func isTarget(_ target: String, of method: HTTPMethod) -> Bool {
    if target.utf8.contains(UInt8(ascii: "#")) { return false }
    if target.utf8.first == UInt8(ascii: "/") { return true }
    if target == "*" { return method == .OPTIONS }
    if method == .CONNECT { return isHost(target) }
    let parts = target.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ["http", "https"].contains(parts[0].lowercased()) else { return false }
    let authority = parts[1].prefix { $0 != "/" && $0 != "?" }
    return !authority.isEmpty && isHost(authority)
  }

  /// Whether a text is a host with or without a port (RFC 3986, section 3.2.2).
  ///
  /// A comma is refused though a name may have one: two values of `Host` that something joined look like that.
  static func isHost(_ text: some StringProtocol) -> Bool {
    var rest = Array(text.utf8)[...]
    if rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")), end > 1,
        rest[1..<end].allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
      else { return false }
      rest = rest[(end + 1)...]
    } else {
      while let byte = rest.first, byte != UInt8(ascii: ":") {
        if byte == UInt8(ascii: "%") {
          guard rest.dropFirst().prefix(2).filter(isHexDigit).count == 2 else { return false }
          rest = rest.dropFirst(3)
        } else {
          guard isNameByte(byte) else { return false }
          rest = rest.dropFirst()
        }
      }
    }
    guard let colon = rest.first else { return true }
    return colon == UInt8(ascii: ":") && rest.count <= 6 && rest.dropFirst().allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x46).contains(byte & 0xDF)
  }

  /// Letters, digits and the marks that a host's name may have.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-._~!$&'()*+;=".utf8.contains(byte)
  }
}
