// SPDX-License-Identifier: Apache-2.0

/// The encodings of a client's `Accept-Encoding` header, by its preference (RFC 9110, section 12.5.3).
public struct AcceptedEncodings: Hashable, Sendable {
  /// The weights by name in lower case, `*` among them.
  private var weights: [String: Double] = [:]
  /// The names in the order of the header.
  private var names: [String] = []

  /// Reads the header's value; nil for a request without the header, which takes everything.
  public init(_ header: String?) {
    for entry in (header ?? "").split(separator: ",") {
      let parts = entry.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
      guard var name = parts.first, !name.isEmpty else { continue }
      if name == "x-gzip" { name = Compression.gzip.rawValue }
      guard weights[name] == nil else { continue }
      weights[name] = Self.weight(parts.dropFirst())
      names.append(name)
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    text.lowercased().filter { $0 != " " && $0 != "\t" }
  }

  /// The weight of an encoding's parameters: 1 without one, 0 for one that is no number from 0 to 1.
  private static func weight(_ parameters: ArraySlice<String>) -> Double {
    guard let quality = parameters.first(where: { $0.hasPrefix("q=") }) else { return 1 }
    let digits = quality.dropFirst(2)
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let weight = Double(digits),
      weight <= 1
    else { return 0 }
    return weight
  }

  /// Whether the client takes an answer as it is.
  public var takesIdentity: Bool { (weights["identity"] ?? weights["*"] ?? 1) > 0 }

  /// The encoding that the client prefers to all others and to none; nil where it prefers none, or names no other.
  public var preferred: Compression? {
    let identity = weights["identity"] ?? 0
    let named = names.compactMap { Compression(rawValue: $0) }
    let others = weights["*"] == nil ? [] : Compression.allCases.filter { !named.contains($0) }
    var best: (encoding: Compression, weight: Double)?
    for encoding in named + others {
      let weight = weights[encoding.rawValue] ?? weights["*"] ?? 0
      if weight > 0, weight >= identity, weight > best?.weight ?? 0 { best = (encoding, weight) }
    }
    // A client that only says what it does not take would rather have the answer as it is.
    return best?.encoding
  }
}
