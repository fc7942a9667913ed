// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// A form as browsers and HTTP clients send it: fields of text, and files.
///
/// Bodies are `multipart/form-data` (RFC 7578) or `application/x-www-form-urlencoded`; an empty body is an empty form. None of the
/// well-kept packages for Swift servers reads the former without a web framework of its own.
public struct FormData: Sendable {
  /// A file of a form.
  public struct File: Sendable {
    /// The name of the form's element.
    public let name: String
    /// The bytes, as they came.
    public let bytes: ByteChunks
  }

  /// The fields of text by name; of fields with one name, the last counts.
  public private(set) var fields: [String: String] = [:]
  /// The files in their order.
  public private(set) var files: [File] = []

  /// The maximum number of parts.
  static let maximumParts = 256
  /// The maximum size of the headers of a part, in bytes.
  static let maximumHeader = 8 << 10
  /// The maximum size of a field of text, in bytes.
  static let maximumField = 64 << 10

  /// Reads a body.
  ///
  /// - Throws: `unsupportedMedia` for another kind of body; `badRequest` with the place for a malformed one, or one with too many parts.
  public init(_ body: ByteChunks, contentType: String?) throws(ServingError) {
    let type = contentType ?? ""
    let kind = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    switch kind {
    case "" where body.count == 0: return
    case "multipart/form-data":
      guard let boundary = HeaderParameters(type)["boundary"], (1...70).contains(boundary.utf8.count) else {
        throw .bad("Content-Type has no boundary of 1 to 70 characters")
      }
      try readParts(body.array, boundary: Array(boundary.utf8))
    case "application/x-www-form-urlencoded": try readPairs(body)
    default:
      throw ServingError(
        .unsupportedMedia,
        "the body is '\(kind)', not a form: multipart/form-data or application/x-www-form-urlencoded")
    }
  }

  // MARK: application/x-www-form-urlencoded

  private mutating func readPairs(_ body: ByteChunks) throws(ServingError) {
    guard body.count <= Self.maximumField, let text = String(validating: body.array, as: UTF8.self) else {
      throw .bad("the form is not UTF-8 of at most \(Self.maximumField) bytes")
    }
    let pairs = text.split(separator: "&")
    guard pairs.count <= Self.maximumParts else { throw Self.tooManyParts }
    for pair in pairs {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { PercentEncoding.decodedField($0) }
      guard let name = parts[0], let value = parts.count > 1 ? parts[1] : "" else {
        throw .bad("the form is not percent-encoded UTF-8: \(pair.prefix(100))")
      }
      fields[name] = value
    }
  }

  private static let tooManyParts = ServingError.bad("the form has more than \(maximumParts) parts")

  // MARK: multipart/form-data

  private mutating func readParts(_ body: [UInt8], boundary: [UInt8]) throws(ServingError) {
    let (carriageReturn, lineFeed, dash) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: "-"))
    let delimiter = [carriageReturn, lineFeed, dash, dash] + boundary
    // The first delimiter may begin the body, without the end of a line before it.
    var place: Int
    if body.starts(with: delimiter[2...]) {
      place = delimiter.count - 2
    } else if let first = body.firstIndex(of: delimiter, from: 0) {
      place = first + delimiter.count
    } else {
      throw .bad("the form has no delimiter: its boundary is '\(String(decoding: boundary, as: UTF8.self))'")
    }
    var count = 0
    while true {
      if body[place...].starts(with: [dash, dash]) { return }
      while place < body.count, body[place] == UInt8(ascii: " ") || body[place] == UInt8(ascii: "\t") {
        place += 1
      }
      guard body[place...].starts(with: [carriageReturn, lineFeed]) else {
        throw .bad("the form ends within part \(count), or its delimiter is not alone on its line")
      }
      count += 1
      guard count <= Self.maximumParts else { throw Self.tooManyParts }
      let headers = place
      guard
        let blank = body.firstIndex(
          of: [carriageReturn, lineFeed, carriageReturn, lineFeed], from: headers,
          within: Self.maximumHeader)
      else { throw .bad("the headers of part \(count) of the form do not end") }
      let content = blank + 4
      // A part without content: its delimiter takes the last of the two ends of lines.
      guard let end = body.firstIndex(of: delimiter, from: blank + 2) else {
        throw .bad("the form ends within part \(count)")
      }
      let part = content <= end ? content..<end : content..<content
      try add(body, part, headers: body[headers..<blank], number: count)
      place = end + delimiter.count
    }
  }

  private mutating func add(
    _ body: [UInt8], _ part: Range<Int>, headers: ArraySlice<UInt8>, number: Int
  ) throws(ServingError) {
    guard let text = String(validating: headers, as: UTF8.self) else {
      throw .bad("the headers of part \(number) of the form are not UTF-8")
    }
    var disposition: HeaderParameters?
    for line in text.split(separator: "\r\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = (parts.count > 1 ? parts[1] : "").trimmingCharacters(in: .whitespaces)
      switch parts[0].trimmingCharacters(in: .whitespaces).lowercased() {
      case "content-disposition": disposition = HeaderParameters(value)
      case "content-transfer-encoding" where !["binary", "8bit", "7bit"].contains(value.lowercased()):
        throw .bad("part \(number) of the form is encoded as '\(value)', not binary")
      default: break
      }
    }
    guard let disposition, let name = disposition["name"] else {
      throw .bad("part \(number) of the form has no Content-Disposition with a name")
    }
    if disposition["filename"] != nil || disposition["filename*"] != nil {
      files.append(File(name: name, bytes: ByteChunks(ByteBuffer(bytes: body[part]))))
      return
    }
    guard part.count <= Self.maximumField, let value = String(validating: body[part], as: UTF8.self) else {
      throw .bad(
        "the field '\(name)' of the form is not UTF-8 of at most \(Self.maximumField) bytes; a file has a filename"
      )
    }
    fields[name] = value
  }
}

/// The parameters of a header's value, such as `form-data; name="image"; filename="a.jpg"`, by their names in lowercase.
private struct HeaderParameters {
  private var values: [String: String] = [:]

  subscript(name: String) -> String? { values[name] }

  init(_ text: String) {
    var rest = text[...]
    func skip(_ character: Character) -> Bool {
      rest = rest.drop { $0 == " " || $0 == "\t" }
      guard rest.first == character else { return false }
      rest.removeFirst()
      return true
    }
    rest = rest.drop { $0 != ";" }
    while skip(";") {
      rest = rest.drop { $0 == " " || $0 == "\t" }
      let name = rest.prefix { $0 != "=" && $0 != ";" }
      rest = rest.dropFirst(name.count)
      guard skip("=") else { continue }
      var value = ""
      if skip("\"") {
        while let character = rest.popFirst(), character != "\"" {
          // Browsers escape quotes alone; older clients send backslashes of paths as they are.
          if character == "\\", rest.first == "\"" || rest.first == "\\", let escaped = rest.popFirst() {
            value.append(escaped)
          } else {
            value.append(character)
          }
        }
      } else {
        rest = rest.drop { $0 == " " || $0 == "\t" }
        let token = rest.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        rest = rest.dropFirst(token.count)
        value = String(token)
      }
      values[name.trimmingCharacters(in: .whitespaces).lowercased()] = value
      rest = rest.drop { $0 != ";" }
    }
  }
}

extension [UInt8] {
  /// Where a pattern begins first; nil if it does not occur.
  ///
  /// - Parameter length: The maximum number of bytes to look at.
  fileprivate func firstIndex(of pattern: [UInt8], from start: Int, within length: Int = .max) -> Int? {
    let last = Swift.min(count - start, length) - pattern.count
    guard last >= 0 else { return nil }
    let bytes = span
    for place in start...start + last where bytes[place] == pattern[0] {
      if pattern.indices.allSatisfy({ bytes[place + $0] == pattern[$0] }) { return place }
    }
    return nil
  }
}
