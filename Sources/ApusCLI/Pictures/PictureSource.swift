// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusFormat
import ApusImages
import ApusVision
import FoundationEssentials

/// A picture for a command to process.
struct PictureSource: Sendable {
  /// The path, as messages name it.
  let name: String
  /// The file's bytes, for pictures that are not in a file.
  var embedded: [UInt8]?
  /// Whether the name is not UTF-8: then it has escapes, and the file cannot be opened.
  var isOutsideUTF8 = false

  /// How much of a file is read to learn the size of its picture, and how much where that is not enough.
  private static let beginningByteCount = 1 << 18
  private static let maximumBeginningByteCount = 1 << 21

  /// The file's bytes.
  func bytes() throws(ApusError) -> [UInt8] {
    if let embedded { return embedded }
    if isOutsideUTF8 { throw FileNames.error(name) }
    return try named { () throws(ApusError) in
      // A file of another kind may have no end.
      try readWholeFile(at: name, limit: ImageLimits().maximumFileSize) { beginning throws(ApusError) in
        _ = try ImageFileFormat.required(of: beginning)
      }
    }
  }

  /// How many bytes the file and its picture take at most, roughly; nil if that is not known before all of it is read.
  func workingByteCount(
    _ limits: ImageLimits, _ reduction: ImageReduction, isDrawnOn: Bool
  ) throws(ApusError) -> Int? {
    func picture(_ beginning: [UInt8]) -> Int? {
      ImageBuffer.decodingByteCount(
        ofFileBeginningWith: beginning, limits: limits, reduction: reduction, isDrawnOn: isDrawnOn)
    }
    if let embedded { return picture(embedded) }
    if isOutsideUTF8 { throw FileNames.error(name) }
    return try named { () throws(ApusError) in
      // Opening a pipe might end its writer.
      guard let size = try regularFileSize(at: name) else { return nil }
      let file = try FileReader(name)
      var beginning = try file.next(min(size, Self.beginningByteCount))
      var found = picture(beginning)
      if found == nil, size > beginning.count {
        beginning += try file.next(min(size, Self.maximumBeginningByteCount) - beginning.count)
        found = picture(beginning)
      }
      guard let picture = found else { return size > beginning.count ? nil : size }
      return min(size, limits.maximumFileSize) + picture
    }
  }

  private func named<R>(_ body: () throws(ApusError) -> R) throws(ApusError) -> R {
    do { return try body() } catch {
      // The name stands before the message already.
      let prefix = "cannot read the file '\(name)': "
      throw error.message.hasPrefix(prefix)
        ? ApusError(error.code, String(error.message.dropFirst(prefix.count))) : error
    }
  }

  /// The maximum number of bytes of a line on standard input.
  private static let maximumLineLength = 1 << 16
  /// How much of standard input is read at a time.
  private static let pieceByteCount = 1 << 16

  /// Refuses the beginning of standard input that is a picture or a sound itself. Names in UTF-8 are none, whatever they begin with.
  private static func refuseFile(_ bytes: [UInt8]) throws(ApusError) {
    guard String(validating: bytes, as: UTF8.self) == nil, let kind = FileKind(beginning: bytes),
      kind.pictureFormat != nil || kind.isSound
    else { return }
    throw ApusError(
      .invalidData, "standard input is \(kind.name), not names of files, one a line: give the file's name")
  }

  /// The lines of standard input that are not empty; or the texts between its zeros, as `find -print0` writes them.
  ///
  /// - Parameter body: Is called with each line, and whether it is UTF-8; if not, it has escapes.
  static func forEachLine(_ body: (String, _ isUTF8: Bool) throws(ApusError) -> Void) throws(ApusError) {
    let input = FileReader.standardInput
    var line: [UInt8] = []
    var isFirst = true
    // Between zeros, a name may have ends of lines.
    var hasZeros = false
    func end() throws(ApusError) {
      if !hasZeros, line.last == UInt8(ascii: "\r") { line.removeLast() }
      if !line.isEmpty {
        let text = String(validating: line, as: UTF8.self)
        try body(text ?? FileNames.printable(line), text != nil)
      }
      line.removeAll(keepingCapacity: true)
    }
    while true {
      let bytes = try input.next(pieceByteCount)
      if isFirst { try refuseFile(bytes) }
      isFirst = false
      hasZeros = hasZeros || bytes.contains(0)
      for byte in bytes {
        if byte == 0 || !hasZeros && byte == UInt8(ascii: "\n") {
          try end()
          continue
        }
        guard line.count < maximumLineLength else {
          throw ApusError(
            .resourceLimit,
            "a line on standard input is longer than \(maximumLineLength) bytes, so no file's name")
        }
        line.append(byte)
      }
      // Fewer bytes are the last ones; a terminal would have to be told of the end again.
      if bytes.count < pieceByteCount { break }
    }
    try end()
  }
}

extension ImageBuffer {
  /// A warning about a picture whose file is damaged; nil if it is not.
  func flawWarning(of name: String) -> String? { flawWarning.map { "\(oneLine(name)): \($0)" } }

  /// The warning without the picture's name, which JSON has.
  var flawWarning: String? {
    flaw.map { "the file is damaged, so parts of the picture may be wrong (\(oneLine($0)))" }
  }
}
