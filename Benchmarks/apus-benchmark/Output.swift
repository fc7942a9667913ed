#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Results go to standard output, everything else to standard error.
enum Output {
  /// Writes a line of results.
  static func write(_ line: String) {
    write(line + "\n", to: 1)
  }

  /// Writes a line for people, apart from the results.
  static func writeError(_ line: String) {
    write(line + "\n", to: 2)
  }

  /// Says what is going on, where a person watches.
  static func progress(_ line: String) {
    if isatty(2) == 1 { writeError(line) }
  }

  /// Writes one JSON document as a line of results.
  static func writeJSON(_ value: some Encodable) throws {
    write(String(decoding: try encoded(value), as: UTF8.self))
  }

  /// One JSON document, with names in the case that JSON has.
  static func encoded(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      written += count
    }
  }
}

/// `write` of the C library, out of the way of methods of that name.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

/// A number with a fixed count of decimals; a dash for none.
func decimal(_ value: Double?, _ places: Int) -> String {
  guard let value else { return "–" }
  guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
  var unit = 1
  for _ in 0..<places { unit *= 10 }
  let scaled = Int((abs(value) * Double(unit)).rounded())
  let sign = value < 0 && scaled > 0 ? "-" : ""
  if places == 0 { return "\(sign)\(scaled)" }
  let fraction = String(scaled % unit)
  return "\(sign)\(scaled / unit)." + String(repeating: "0", count: places - fraction.count) + fraction
}

/// Rows of text in columns as wide as they need, all but the first right-aligned; the first row is a heading.
func table(_ rows: [[String]], leftAligned: Set<Int> = [0]) -> String {
  let columns = rows.map(\.count).max() ?? 0
  let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
  }
  return rows.map { row in
    var line = ""
    for (column, cell) in row.enumerated() {
      let padding = String(repeating: " ", count: widths[column] - cell.count)
      line += leftAligned.contains(column) ? cell + padding : padding + cell
      line += "  "
    }
    while line.last == " " { line.removeLast() }
    return line
  }.joined(separator: "\n")
}
