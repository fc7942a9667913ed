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
    return String(decoding: beginning, as: UTF8.self)
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
    if text.hasPrefix("<") {
      return FileKind("an XML text", "an answer of a server may be one: download the file again")
    }
    if text.hasPrefix("{") || text.hasPrefix("[") {
      if text.contains("\"modelTopology\"") || text.contains("\"weightsManifest\"") {
        return FileKind("a model of TensorFlow.js (model.json)", FileKind.fromSource)
      }
      return FileKind("a JSON text")
    }
    if text.contains("unsigned char"), text.contains("{") || text.contains("#include") {
      return FileKind("a C source with the bytes of a model", "use the .tflite file that it is made from")
    }
    return FileKind("a text that begins with '\(firstLine(of: text))'")
  }

  private static func firstLine(of text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).first ?? ""
    return line.count > 40 ? "\(line.prefix(40))…" : String(line)
  }
}
