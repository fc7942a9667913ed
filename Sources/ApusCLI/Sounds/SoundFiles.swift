// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision

/// The sounds that a command's arguments name.
struct SoundFiles {
  /// The files, in order.
  private(set) var files: [String] = []
  /// Whether folders have sounds of kinds that are not read: then the command ends with status 2.
  var leaveOutSounds: Bool { leftOut.hasSounds }
  private var leftOut = LeftOutFiles()

  /// The endings of the sounds in folders.
  private static let endings: Set<String> = ["wav", "wave"]
  /// The maximum number of sounds.
  private static let maximumCount = 1 << 20

  /// Files themselves, the sounds of folders in the order of their names' bytes, and the lines of standard input for `-`.
  ///
  /// Other files in folders are counted on standard error.
  ///
  /// - Throws: `unreadableFile` for a folder that cannot be read or has no sound; `resourceLimit` for too many.
  init(_ arguments: [String]) throws(ApusError) {
    leftOut.folderHint = ""
    for argument in arguments {
      if argument == "-" {
        try PictureSource.forEachLine { line, isUTF8 throws(ApusError) in
          guard isUTF8 else { throw FileNames.error(line) }
          try add(line)
        }
      } else {
        try add(argument)
      }
    }
    if let text = leftOut.text { Output.writeError(text) }
  }

  private mutating func add(_ path: String) throws(ApusError) {
    guard FolderEntry.isFolder(path) else { return try append([path]) }
    var sounds: [String] = []
    let folders = try FolderEntry.forEachFile(in: path, isRecursive: false) { name, entry throws(ApusError) in
      let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
      guard Self.endings.contains(ending) else { return leftOut.addFile(name) }
      try entry.checkName()
      sounds.append(entry.path)
    }
    leftOut.addFolders(folders)
    guard !sounds.isEmpty else {
      throw ApusError(
        .unreadableFile,
        "the folder '\(path)' has no .wav file" + (leftOut.text.map { ": \($0)" } ?? "")
          + (leaveOutSounds ? "; convert sounds to WAV, for example with ffmpeg" : ""))
    }
    try append(sounds)
  }

  private mutating func append(_ paths: [String]) throws(ApusError) {
    guard paths.count <= Self.maximumCount - files.count else {
      throw ApusError(.resourceLimit, "there are more than \(Self.maximumCount) sounds")
    }
    files += paths
  }
}
