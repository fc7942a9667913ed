// SPDX-License-Identifier: Apache-2.0

/// The name of a source without the secrets that a URL may hold, for errors and logs, which others may read.
///
/// `…` stands for the user and password, the query and the fragment, and for parts of the path with a `=`:
///
/// ```text
/// rtsp://ada:s3cret@camera/live?token=1234               rtsp://…@camera/live?…
/// rtsp://camera/user=ada_password=s3cret_channel=1.sdp   rtsp://camera/…
/// ```
package struct MaskedAddress: Hashable, Sendable {
  /// The name as it may be shown.
  package let text: String
  /// The name as it was given.
  let name: String
  /// The parts that a message must not repeat, even outside an address.
  private let secrets: [String]

  package init(_ name: String) {
    self.name = name
    guard Self.address(in: name[...])?.lowerBound == name.startIndex else {
      (text, secrets) = (name, [])
      return
    }
    let (masked, secrets) = Self.masking(name[...])
    text = masked
    // Short ones are part of many words.
    self.secrets = secrets.filter { $0.utf8.count >= 4 }
  }

  /// A message of another program without the secrets of this address, and of any other one.
  package func masked(_ message: String) -> String {
    var message = text == name ? message : message.replacing(name, with: text)
    for secret in secrets { message = message.replacing(secret, with: "…") }
    var masked = ""
    var rest = message[...]
    while let range = Self.address(in: rest) {
      masked += rest[..<range.lowerBound] + Self.masking(rest[range]).masked
      rest = rest[range.upperBound...]
    }
    return masked + rest
  }

  /// The first address with a scheme, if there is one: up to a space, without the punctuation that ends it.
  private static func address(in text: Substring) -> Range<Substring.Index>? {
    guard let mark = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<mark.lowerBound].reversed().prefix { character in
      character.isASCII && (character.isLetter || character.isNumber || "+-.".contains(character))
    }
    let start = text.index(mark.lowerBound, offsetBy: -scheme.count)
    var address = text[start...].prefix { !$0.isWhitespace }
    while let last = address.last, "':,.)\"".contains(last), address.endIndex > mark.upperBound {
      address.removeLast()
    }
    return start..<address.endIndex
  }

  /// An address without its secrets, and these.
  private static func masking(_ address: Substring) -> (masked: String, secrets: [String]) {
    guard let start = address.firstRange(of: "://")?.upperBound else { return (String(address), []) }
    var masked = String(address[..<start])
    var secrets: [String] = []
    var rest = address[start...]
    // The user and password stand before the last `@` of the authority (RFC 3986, section 3.2).
    let authority = rest.prefix { !"/?#".contains($0) }
    var end = authority.lastIndex(of: "@")
    if end == nil, let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]"),
      !authority[colon...].dropFirst().allSatisfy(\.isNumber)
    {
      // This is no port: a password with a `/`, `?` or `#` that is not escaped.
      end = rest.lastIndex(of: "@")
    }
    if let end {
      masked += "…@"
      secrets.append(String(rest[..<end]))
      rest = rest[rest.index(after: end)...]
    }
    let path = rest.prefix { !"?#".contains($0) }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { part in
      guard part.contains("=") else { return part }
      secrets.append(String(part))
      return "…"
    }
    masked += parts.joined(separator: "/")
    let query = rest[path.endIndex...]
    if let mark = query.first {
      masked += "\(mark)…"
      secrets.append(String(query.dropFirst()))
    }
    return (masked, secrets)
  }
}
