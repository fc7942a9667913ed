// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import FoundationEssentials

/// A picture for a command to process.
struct PictureSource: Sendable {
  /// The path, as messages name it.
  let name: String
  /// The file's bytes, for pictures that are not in a file.
  var embedded: [UInt8]?

  /// The endings of the pictures in folders.
  private static let endings: Set<String> = ["jpg", "jpeg", "png", "bmp", "pnm", "ppm", "pgm", "pbm"]
  /// Folders deeper than this are not looked into: they may be links in a circle.
  private static let maximumDepth = 64

  /// The file's bytes.
  func bytes() throws(ApusError) -> [UInt8] {
    if let embedded { return embedded }
    do { return try readWholeFile(at: name, limit: ImageLimits().maximumFileSize) } catch {
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
    for argument in arguments {
      if argument == "-" {
        while let line = readLine() {
          if !line.isEmpty { try add(line, recursive, &sources) }
        }
      } else {
        try add(argument, recursive, &sources)
      }
    }
    return sources
  }

  private static func add(_ path: String, _ recursive: Bool, _ sources: inout [PictureSource])
    throws(ApusError)
  {
    guard isFolder(path) else {
      sources.append(PictureSource(name: path))
      return
    }
    try addFolder(path, recursive, depth: 0, &sources)
  }

  private static func addFolder(
    _ path: String, _ recursive: Bool, depth: Int, _ sources: inout [PictureSource]
  ) throws(ApusError) {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw ApusError(.unreadableFile, "cannot read the folder '\(path)'")
    }
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let inside = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
      if isFolder(inside) {
        if recursive, depth < maximumDepth { try addFolder(inside, recursive, depth: depth + 1, &sources) }
      } else if let dot = name.lastIndex(of: "."),
        endings.contains(name[name.index(after: dot)...].lowercased())
      {
        sources.append(PictureSource(name: inside))
      }
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }
}
