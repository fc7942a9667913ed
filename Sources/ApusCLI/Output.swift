import FoundationEssentials

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

  /// Writes one JSON document as a line of results.
  static func writeJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    write(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var start = 0
      while start < bytes.count, let base = bytes.baseAddress {
        #if canImport(Darwin)
          let count = Darwin.write(descriptor, base + start, bytes.count - start)
        #else
          let count = Glibc.write(descriptor, base + start, bytes.count - start)
        #endif
        if count <= 0 { return }
        start += count
      }
    }
  }
}

/// A number with a fixed count of decimals, without Foundation's formatters.
func decimal(_ value: Double, _ places: Int) -> String {
  guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
  var scale = 1.0
  for _ in 0..<places { scale *= 10 }
  let scaled = Int((abs(value) * scale).rounded())
  let unit = Int(scale)
  var fraction = String(scaled % unit)
  while fraction.count < places { fraction = "0" + fraction }
  let sign = value < 0 && scaled > 0 ? "-" : ""
  return places == 0 ? "\(sign)\(scaled)" : "\(sign)\(scaled / unit).\(fraction)"
}

/// Rows of text in columns as wide as they need; the first row is a heading.
func table(_ rows: [[String]], rightAligned: Set<Int> = []) -> String {
  let columns = rows.map(\.count).max() ?? 0
  let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
  }
  return rows.map { row in
    var line = ""
    for (column, cell) in row.enumerated() {
      let padding = String(repeating: " ", count: widths[column] - cell.count)
      line += rightAligned.contains(column) ? padding + cell : cell + padding
      if column + 1 < row.count { line += "  " }
    }
    while line.last == " " { line.removeLast() }
    return line
  }.joined(separator: "\n")
}
