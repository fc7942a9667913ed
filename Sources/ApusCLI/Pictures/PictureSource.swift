// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import FoundationEssentials

/// A picture for a command to process.
struct PictureSource: Sendable {
  /// The path, as messages name it.
  let name: String
  /// The file's bytes, for pictures that are not in a file.
  var embedded: [UInt8]?

  /// Folders deeper than this are not looked into: they may be links in a circle.
  private static let maximumDepth = 64

  /// How much of a file is read to learn the size of its picture, and how much where that is not enough.
  private static let beginningByteCount = 1 << 18
  private static let mostBeginningByteCount = 1 << 21

  /// The file's bytes.
  func bytes() throws(ApusError) -> [UInt8] {
    if let embedded { return embedded }
    return try named { () throws(ApusError) in
      try readWholeFile(at: name, limit: ImageLimits().maximumFileSize)
    }
  }

  /// How many bytes the file and its picture take at most, roughly; nil if that is not known before all of it is read.
  func workingByteCount(_ reduction: ImageReduction, isDrawnOn: Bool) throws(ApusError) -> Int? {
    func picture(_ beginning: [UInt8]) -> Int? {
      ImageBuffer.decodingByteCount(
        ofFileBeginningWith: beginning, reduction: reduction, isDrawnOn: isDrawnOn)
    }
    if let embedded { return picture(embedded) }
    return try named { () throws(ApusError) in
      // Opening a pipe might end its writer.
      guard let size = try regularFileSize(at: name) else { return nil }
      let file = try FileReader(name)
      var beginning = try file.next(min(size, Self.beginningByteCount))
      var found = picture(beginning)
      if found == nil, size > beginning.count {
        beginning += try file.next(min(size, Self.mostBeginningByteCount) - beginning.count)
        found = picture(beginning)
      }
      guard let picture = found else { return size > beginning.count ? nil : size }
      return min(size, ImageLimits().maximumFileSize) + picture
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

  /// The files that arguments name: files themselves, the pictures of folders in the order of their names' bytes, and the
  /// lines of standard input for `-`.
  static func all(_ arguments: [String], recursive: Bool) throws(ApusError) -> [PictureSource] {
    var sources: [PictureSource] = []
    var leftOut = LeftOutFiles()
    for argument in arguments {
      if argument == "-" {
        try forEachLine { line throws(ApusError) in try add(line, recursive, &sources, &leftOut) }
      } else {
        try add(argument, recursive, &sources, &leftOut)
      }
    }
    guard !sources.isEmpty else {
      let folders = leftOut.folders.map { "'\($0)'" }.joined(separator: ", ")
      throw ApusError(
        .invalidArgument,
        (folders.isEmpty ? "no picture is named on standard input" : "there is no picture in \(folders)")
          + (leftOut.text.map { ": \($0)" } ?? ""))
    }
    if let text = leftOut.text { Output.writeError(text) }
    return sources
  }

  /// The maximum number of pictures, and of bytes of a line on standard input.
  private static let maximumCount = 1 << 22
  private static let maximumLineLength = 1 << 16
  /// How much of standard input is read at a time.
  private static let pieceByteCount = 1 << 16

  /// The lines of standard input that are not empty.
  static func forEachLine(_ body: (String) throws(ApusError) -> Void) throws(ApusError) {
    let input = FileReader.standardInput
    var line: [UInt8] = []
    func end() throws(ApusError) {
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if !line.isEmpty { try body(String(decoding: line, as: UTF8.self)) }
      line.removeAll(keepingCapacity: true)
    }
    while true {
      let bytes = try input.next(pieceByteCount)
      for byte in bytes {
        if byte == UInt8(ascii: "\n") {
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

  private static func append(_ path: String, to sources: inout [PictureSource]) throws(ApusError) {
    guard sources.count < maximumCount else {
      throw ApusError(.resourceLimit, "there are more than \(maximumCount) pictures")
    }
    sources.append(PictureSource(name: path))
  }

  private static func add(
    _ path: String, _ recursive: Bool, _ sources: inout [PictureSource], _ leftOut: inout LeftOutFiles
  ) throws(ApusError) {
    guard isFolder(path) else { return try append(path, to: &sources) }
    leftOut.folders.append(path)
    try addFolder(path, recursive, depth: 0, &sources, &leftOut)
  }

  private static func addFolder(
    _ path: String, _ recursive: Bool, depth: Int, _ sources: inout [PictureSource],
    _ leftOut: inout LeftOutFiles
  ) throws(ApusError) {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw ApusError(.unreadableFile, "cannot read the folder '\(path)'")
    }
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let inside = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
      if isFolder(inside) {
        if recursive, depth < maximumDepth {
          try addFolder(inside, recursive, depth: depth + 1, &sources, &leftOut)
        } else {
          leftOut.addFolder()
        }
      } else if ImageFileFormat(path: name) != nil {
        try append(inside, to: &sources)
      } else {
        leftOut.addFile(name)
      }
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }
}
