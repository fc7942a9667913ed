// SPDX-License-Identifier: Apache-2.0

/// Kinds of texts that are mistaken for models: pointers, web pages, sources.
enum TextContents {
  /// The kind of a text; nil for bytes that are none.
  static func kind(of bytes: [UInt8]) -> FileKind? {
    text(at: bytes).map { placeholder($0) ?? text($0) }
  }

  /// The beginning of a text, without its mark and space before it; nil for bytes that are no text.
  static func text(at bytes: [UInt8]) -> String? {
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    let content = bytes.dropFirst(hasMark ? 3 : 0).drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    let beginning = content.prefix(4_096)
    // Some formats of other files begin with letters, but have other bytes soon.
    guard !beginning.isEmpty, beginning.allSatisfy({ $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }) else {
      return nil
    }
    let text = String(decoding: beginning, as: UTF8.self)
    // Texts in old encodings have spaces and ends of lines, too; bytes without any are numbers.
    guard beginning.contains(where: { $0 < 0x80 }) || text.contains(where: { $0 != "\u{FFFD}" }) else {
      return nil
    }
    return text
  }

  /// The kind of a text that stands where another file should be, whatever that is; nil for others.
  static func placeholder(_ text: String) -> FileKind? {
    let lowercased = text.lowercased()
    if text.hasPrefix("version https://git-lfs.github.com/spec/") {
      let size = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("size ") }?.dropFirst(5).prefix(
        20)
      return FileKind(
        "a Git LFS pointer" + (size.map { " to a file of \($0) bytes" } ?? ""),
        "run 'git lfs pull' in its repository, or download the file itself")
    }
    if lowercased.hasPrefix("<!doctype html") || lowercased.hasPrefix("<html")
      || lowercased.hasPrefix("<head")
    {
      return FileKind(
        "a web page (HTML)", "download the file itself, with the link called 'raw' or 'download'")
    }
    return nil
  }

  private static func text(_ text: String) -> FileKind {
    if let kind = hexadecimal(text) ?? base64(text) { return kind }
    if text.hasPrefix("<svg") || text.hasPrefix("<") && text.utf8.contains(word: "<svg") {
      return FileKind(picture: "SVG")
    }
    if text.hasPrefix("<") {
      return FileKind("an XML text", "an answer of a server may be one: download the file again")
    }
    if text.hasPrefix("{") || text.hasPrefix("[") {
      if text.utf8.contains(word: "\"modelTopology\"") || text.utf8.contains(word: "\"weightsManifest\"") {
        return FileKind("a model of TensorFlow.js (model.json)", FileKind.fromSource)
      }
      return FileKind("a JSON text")
    }
    if text.utf8.contains(word: "unsigned char"),
      text.utf8.contains(word: "{") || text.utf8.contains(word: "#include")
    {
      return FileKind("a C source with the bytes of a model", "use the .tflite file that it is made from")
    }
    return FileKind("a text that begins with '\(firstLine(of: text))'")
  }

  /// The kind of a text of hexadecimal digits, two for each byte; nil for others.
  private static func hexadecimal(_ text: String) -> FileKind? {
    let digits = text.utf8.filter { ![0x20, 0x0A, 0x0D].contains($0) }
    guard digits.count >= 64,
      digits.allSatisfy({
        (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
      })
    else { return nil }
    // The fifth to the eighth byte name the kind of a model.
    let isModel =
      digits[8..<16].elementsEqual("54464c33".utf8) || digits[8..<16].elementsEqual("54464C33".utf8)
    return FileKind(
      "the hexadecimal text of \(isModel ? "a .tflite model" : "other bytes")",
      "turn it into bytes first, for example with 'xxd -r -p FILE > model.tflite'",
      forPictures: "turn it into bytes first, for example with 'xxd -r -p FILE > picture'")
  }

  /// The kind of a text that holds other bytes in Base64, with or without `data:` in front; nil for others.
  private static func base64(_ text: String) -> FileKind? {
    var content = Substring(text)
    if text.hasPrefix("data:"), let comma = text.firstIndex(of: ","), text[..<comma].hasSuffix(";base64") {
      content = text[text.index(after: comma)...]
    }
    let letters = content.utf8.filter { ![0x0A, 0x0D].contains($0) }
    guard letters.count >= 64 else { return nil }
    let body = letters.prefix(4_000)
    let values = body.compactMap { letter -> UInt8? in
      switch letter {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - 65
      case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - 71
      case UInt8(ascii: "0")...UInt8(ascii: "9"): letter + 4
      case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
      default: nil
      }
    }
    let isEnd =
      body.suffix(2).allSatisfy { $0 == UInt8(ascii: "=") } ? 2 : body.last == UInt8(ascii: "=") ? 1 : 0
    guard values.count + isEnd == body.count else { return nil }
    // Twelve letters are nine bytes; the fifth to the eighth name the kind of a model.
    let bytes = stride(from: 0, to: 12, by: 4).flatMap { place in
      let bits = values[place..<place + 4].reduce(UInt32(0)) { $0 << 6 | UInt32($1) }
      return [
        UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8),
        UInt8(truncatingIfNeeded: bits),
      ]
    }
    let isModel = bytes[4..<8].elementsEqual("TFL3".utf8)
    guard isModel || values.contains(where: { $0 >= 52 }) && content.utf8.prefix(64).allSatisfy({ $0 > 0x20 })
    else {
      return nil
    }
    return FileKind(
      isModel ? "the Base64 text of a .tflite model" : "a text in Base64",
      "decode it first, for example with 'base64 -d FILE > model.tflite'",
      forPictures: isModel ? nil : "decode it first, for example with 'base64 -d FILE > picture'")
  }

  private static func firstLine(of text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).first ?? ""
    return line.count > 40 ? "\(line.prefix(40))…" : String(line)
  }
}
