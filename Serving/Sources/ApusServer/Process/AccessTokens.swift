// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Foundation

/// The bearer tokens that clients may have; none means that everybody may ask.
struct AccessTokens: Sendable {
  private let tokens: [[UInt8]]

  /// No tokens: every request is allowed.
  static let none = AccessTokens(tokens: [])

  private init(tokens: [[UInt8]]) { self.tokens = tokens }

  /// Reads a file with one token a line; blank lines and lines that begin with `#` are skipped.
  init(contentsOfFile path: String) throws {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw ServingError(.internalFailure, "the token file '\(path)' cannot be read")
    }
    tokens = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("#") }.map { Array($0.utf8) }
    guard !tokens.isEmpty else {
      throw ServingError(.internalFailure, "the token file '\(path)' has no token")
    }
  }

  /// Checks the value of an `Authorization` header.
  func check(_ header: String?) throws(ServingError) {
    guard !tokens.isEmpty else { return }
    guard let header, header.lowercased().hasPrefix("bearer ") else {
      throw ServingError(.unauthorized, "a bearer token is needed")
    }
    try check(key: header.dropFirst("bearer ".count).trimmingCharacters(in: .whitespaces))
  }

  /// Checks a token as such.
  func check(key: String) throws(ServingError) {
    guard !tokens.isEmpty else { return }
    let given = Array(key.utf8)
    var isKnown = false
    for token in tokens where Self.areEqual(token, given) { isKnown = true }
    guard isKnown else { throw ServingError(.unauthorized, "the token is wrong") }
  }

  /// Compares in a time that depends on the lengths alone.
  private static func areEqual(_ token: [UInt8], _ given: [UInt8]) -> Bool {
    var difference = token.count ^ given.count
    for index in token.indices {
      difference |= Int(token[index] ^ (given.isEmpty ? 0 : given[index % given.count]))
    }
    return difference == 0
  }
}
