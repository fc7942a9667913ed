// SPDX-License-Identifier: Apache-2.0
import Apus
import FoundationEssentials

/// The sounds that a command's arguments name.
enum SoundFiles {
  /// The endings of the sounds in folders.
  private static let endings: Set<String> = ["wav", "wave"]
  /// The maximum number of sounds.
  private static let maximumCount = 1 << 20

  /// Files themselves, the sounds of folders in the order of their names' bytes, and the lines of standard input for `-`.
  ///
  /// - Throws: `unreadableFile` for a folder that cannot be read or has no sound; `resourceLimit` for too many.
  static func all(_ arguments: [String]) throws(ApusError) -> [String] {
    var files: [String] = []
    for argument in arguments {
      if argument == "-" {
        try PictureSource.forEachLine { line throws(ApusError) in try add(line, to: &files) }
      } else {
        try add(argument, to: &files)
      }
    }
    return files
  }

  private static func add(_ path: String, to files: inout [String]) throws(ApusError) {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
      return try append([path], to: &files)
    }
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw ApusError(.unreadableFile, "cannot read the folder '\(path)'")
    }
    let sounds = names.filter { name in
      name.lastIndex(of: ".").map { endings.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
    guard !sounds.isEmpty else {
      throw ApusError(
        .unreadableFile, "the folder '\(path)' has no .wav file among its \(names.count) entries")
    }
    let folder = path.hasSuffix("/") ? path : "\(path)/"
    try append(sounds.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { folder + $0 }, to: &files)
  }

  private static func append(_ paths: [String], to files: inout [String]) throws(ApusError) {
    guard paths.count <= maximumCount - files.count else {
      throw ApusError(.resourceLimit, "there are more than \(maximumCount) sounds")
    }
    files += paths
  }
}
