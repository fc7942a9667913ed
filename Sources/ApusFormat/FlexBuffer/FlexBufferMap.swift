// SPDX-License-Identifier: Apache-2.0

/// A decoded FlexBuffers map, the form of custom operators' options.
///
/// ```swift
/// let options = try FlexBufferMap(bytes: customOptions)
/// let detections = options.int64("max_detections")  // 0 where the key is absent
/// ```
package struct FlexBufferMap: Hashable, Sendable {
  /// One named value.
  package struct Entry: Hashable, Sendable {
    /// The name.
    package let key: String
    /// The value.
    package let value: FlexBufferValue

    /// Makes an entry.
    package init(key: String, value: FlexBufferValue) {
      self.key = key
      self.value = value
    }
  }

  /// The entries in the order of the file, which is that of the keys in a well-formed one.
  package let entries: [Entry]

  /// Makes a map of entries.
  package init(entries: [Entry] = []) {
    self.entries = entries
  }

  /// Decodes a FlexBuffer whose root is a map; no bytes at all are an empty map.
  package init(bytes: [UInt8]) throws(FormatError) {
    try self.init(root: bytes.isEmpty ? .map(FlexBufferMap()) : FlexBufferValue(bytes: bytes))
  }

  /// Decodes a FlexBuffer whose root is a map, from some bytes of a file; none at all are an empty map.
  package init(_ file: FileBytes, _ range: Range<Int>) throws(FormatError) {
    try self.init(root: range.isEmpty ? .map(FlexBufferMap()) : FlexBufferValue(file, range))
  }

  private init(root: FlexBufferValue) throws(FormatError) {
    guard case .map(let map) = root else { throw FormatError("the FlexBuffer's root is not a map") }
    self = map
  }

  /// The value of a key, or nil where it is absent.
  package subscript(key: String) -> FlexBufferValue? {
    entries.first { $0.key == key }?.value
  }

  /// Whether there is a value, even null, for a key.
  package func contains(_ key: String) -> Bool { self[key] != nil }

  /// A value as a signed integer, as ``FlexBufferValue/int64`` converts it.
  package func int64(_ key: String, default value: Int64 = 0) -> Int64 { self[key]?.int64 ?? value }

  /// A value as a number, as ``FlexBufferValue/double`` converts it.
  package func double(_ key: String, default value: Double = 0) -> Double { self[key]?.double ?? value }

  /// A value as a Boolean, as ``FlexBufferValue/bool`` converts it.
  package func bool(_ key: String, default value: Bool = false) -> Bool { self[key]?.bool ?? value }
}
