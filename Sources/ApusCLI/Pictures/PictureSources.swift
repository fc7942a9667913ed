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

  /// The maximum number of pictures.
  private static let maximumCount = 1 << 22

  /// The files that arguments name: files themselves, the pictures of folders in the order of their names' bytes, and the
  /// lines of standard input for `-`.
  ///
  /// Other files in folders are counted on standard error.
  ///
  /// - Parameter areFrames: Whether the pictures are those of one video: numbers in names of a folder then count by their value, as in
  ///   `f1.png`, `f2.png`, `f10.png`.
  /// - Throws: `unreadableFile` for a folder that cannot be read, `resourceLimit` for too many pictures, or `invalidArgument` if
  ///   there are none.
  init(_ arguments: [String], recursive: Bool, areFrames: Bool = false) throws(ApusError) {
    var leftOut = LeftOutFiles()
    if recursive { leftOut.folderHint = " that links lead to again, or that lie too deep" }
    for argument in arguments {
      if argument == "-" {
        try PictureSource.forEachLine { line, isUTF8 throws(ApusError) in
          if isUTF8 {
            try add(line, recursive, areFrames, &leftOut)
          } else {
            try append(line, isOutsideUTF8: true)
          }
        }
      } else {
        try add(argument, recursive, areFrames, &leftOut)
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

  private mutating func append(_ path: String, isOutsideUTF8: Bool = false) throws(ApusError) {
    guard sources.count < Self.maximumCount else {
      throw ApusError(.resourceLimit, "there are more than \(Self.maximumCount) pictures")
    }
    sources.append(PictureSource(name: path, isOutsideUTF8: isOutsideUTF8))
  }

  private mutating func add(
    _ path: String, _ recursive: Bool, _ areFrames: Bool, _ leftOut: inout LeftOutFiles
  ) throws(ApusError) {
    guard FolderEntry.isFolder(path) else { return try append(path) }
    leftOut.folders.append(path)
    let first = sources.count
    let folders = try FolderEntry.forEachFile(in: path, isRecursive: recursive) {
      _, entry throws(ApusError) in
      if ImageFileFormat(path: entry.name) != nil {
        try append(entry.path, isOutsideUTF8: entry.isOutsideUTF8)
      } else {
        leftOut.addFile(entry.name)
      }
    }
    leftOut.addFolders(folders)
    if areFrames { sources[first...].sort { $0.name.precedesByNumbers($1.name) } }
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
