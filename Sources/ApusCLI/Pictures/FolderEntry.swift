// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import FoundationEssentials

/// A file or folder inside of a folder.
struct FolderEntry {
  let name: String
  /// The folder's path as it was given, and the name.
  let path: String
  let isFolder: Bool
  /// Whether the name is not UTF-8, so that it stands here with escapes, and no path leads to the file.
  var isOutsideUTF8 = false

  /// Refuses a name that is not UTF-8.
  func checkName() throws(ApusError) { if isOutsideUTF8 { throw FileNames.error(path) } }

  /// The entries of a folder, in the order of the names' bytes. Names that begin with a dot are hidden and
  /// not among them: systems keep thumbnails and copies of attributes under such names.
  ///
  /// - Throws: `unreadableFile` for a folder that cannot be read.
  static func all(in folder: String) throws(ApusError) -> [FolderEntry] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      throw ApusError(.unreadableFile, "cannot read the folder '\(folder)'")
    }
    let start = folder.hasSuffix("/") ? folder : "\(folder)/"
    var entries = names.filter { !$0.hasPrefix(".") }.map {
      FolderEntry(name: $0, path: start + $0, isFolder: isFolder(start + $0))
    }
    // Names that are not UTF-8 have lost letters.
    if names.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) {
      entries.removeAll { entry in
        entry.name.unicodeScalars.contains("\u{FFFD}") && !FileManager.default.fileExists(atPath: entry.path)
      }
      entries += FileNames.outsideUTF8(inFolder: folder).filter { !$0.name.hasPrefix(".") }.map {
        FolderEntry(name: $0.name, path: start + $0.name, isFolder: $0.isFolder, isOutsideUTF8: true)
      }
    }
    return entries.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Folders deeper than this are not looked into.
  private static let maximumDepth = 64

  /// Hands over each file of a folder and of its subfolders, in the order of the names' bytes. A folder that links lead to several times is
  /// looked into once, so that links in a circle end and no file is handed over twice.
  ///
  /// - Parameters:
  ///   - isRecursive: Whether subfolders are looked into.
  ///   - take: Is called with each file and its path from the folder on.
  /// - Returns: How many folders were not looked into.
  /// - Throws: `unreadableFile` for a folder that cannot be read, or what `take` throws.
  @discardableResult
  static func forEachFile(
    in folder: String, isRecursive: Bool, take: (_ name: String, FolderEntry) throws(ApusError) -> Void
  ) throws(ApusError) -> Int {
    var seen: Set<FileIdentity> = []
    var leftOut = 0
    func walk(_ folder: String, _ prefix: String, depth: Int) throws(ApusError) {
      if let identity = FileIdentity(ofFolderAt: folder), !seen.insert(identity).inserted {
        leftOut += 1
        return
      }
      for entry in try all(in: folder) {
        if !entry.isFolder {
          try take(prefix + entry.name, entry)
        } else if isRecursive, depth < maximumDepth {
          try entry.checkName()
          try walk(entry.path, "\(prefix)\(entry.name)/", depth: depth + 1)
        } else {
          leftOut += 1
        }
      }
    }
    try walk(folder, "", depth: 0)
    return leftOut
  }

  /// Whether there is a folder at a path, or where its links lead to.
  static func isFolder(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
  }
}
