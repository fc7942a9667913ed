// SPDX-License-Identifier: Apache-2.0
import Apus
import FoundationEssentials

/// A file or folder inside of a folder.
struct FolderEntry {
  let name: String
  /// The folder's path as it was given, and the name.
  let path: String
  let isFolder: Bool

  /// What a folder has, in the order of the names' bytes. Names that begin with a dot are hidden and not among them: systems keep thumbnails
  /// and copies of attributes under such names.
  ///
  /// - Throws: `unreadableFile` for a folder that cannot be read.
  static func all(in folder: String) throws(ApusError) -> [FolderEntry] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      throw ApusError(.unreadableFile, "cannot read the folder '\(folder)'")
    }
    let start = folder.hasSuffix("/") ? folder : "\(folder)/"
    return names.filter { !$0.hasPrefix(".") }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map {
      FolderEntry(name: $0, path: start + $0, isFolder: isFolder(start + $0))
    }
  }

  /// Whether there is a folder at a path, or where its links lead to.
  static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }
}
