// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision

/// The pictures that a command works on, in order.
struct PictureSources: Sendable {
  private var sources: [PictureSource] = []
  /// Whether folders have pictures of kinds that are not read: then the command ends with status 2.
  private(set) var leaveOutPictures = false

  /// Folders deeper than this are not looked into: they may be links in a circle.
  private static let maximumDepth = 64
  /// The maximum number of pictures.
  private static let maximumCount = 1 << 22

  /// The files that arguments name: files themselves, the pictures of folders in the order of their names' bytes, and the
  /// lines of standard input for `-`.
  ///
  /// What folders have besides is counted on standard error.
  ///
  /// - Throws: `unreadableFile` for a folder that cannot be read, `resourceLimit` for too many pictures, or `invalidArgument` if
  ///   there are none.
  init(_ arguments: [String], recursive: Bool) throws(ApusError) {
    var leftOut = LeftOutFiles()
    for argument in arguments {
      if argument == "-" {
        try PictureSource.forEachLine { line throws(ApusError) in try add(line, recursive, &leftOut) }
      } else {
        try add(argument, recursive, &leftOut)
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
    leaveOutPictures = leftOut.hasPictures
  }

  private mutating func append(_ path: String) throws(ApusError) {
    guard sources.count < Self.maximumCount else {
      throw ApusError(.resourceLimit, "there are more than \(Self.maximumCount) pictures")
    }
    sources.append(PictureSource(name: path))
  }

  private mutating func add(
    _ path: String, _ recursive: Bool, _ leftOut: inout LeftOutFiles
  ) throws(ApusError) {
    guard FolderEntry.isFolder(path) else { return try append(path) }
    leftOut.folders.append(path)
    try addFolder(path, recursive, depth: 0, &leftOut)
  }

  private mutating func addFolder(
    _ path: String, _ recursive: Bool, depth: Int, _ leftOut: inout LeftOutFiles
  ) throws(ApusError) {
    for entry in try FolderEntry.all(in: path) {
      if entry.isFolder {
        if recursive, depth < Self.maximumDepth {
          try addFolder(entry.path, recursive, depth: depth + 1, &leftOut)
        } else {
          leftOut.addFolder()
        }
      } else if ImageFileFormat(path: entry.name) != nil {
        try append(entry.path)
      } else {
        leftOut.addFile(entry.name)
      }
    }
  }
}

extension PictureSources: ExpressibleByArrayLiteral {
  init(arrayLiteral sources: PictureSource...) { self.sources = sources }
}

extension PictureSources: RandomAccessCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { sources.count }
  subscript(position: Int) -> PictureSource { sources[position] }
}
