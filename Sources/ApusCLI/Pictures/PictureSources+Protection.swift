// SPDX-License-Identifier: Apache-2.0
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import FoundationEssentials

extension PictureSources {
  /// Refuses files for results that would replace one of these pictures, through whatever links.
  ///
  /// - Parameter option: What names the files on the command line.
  func protect(from outputs: [String], of option: String) throws {
    var written: [FileIdentity: String] = [:]
    for output in outputs {
      if let identity = FileIdentity(ofFileAt: output) { written[identity] = output }
    }
    // A picture is a file that is there.
    guard !written.isEmpty else { return }
    for source in self where source.embedded == nil {
      guard let identity = FileIdentity(ofFileAt: source.name), let output = written[identity] else {
        continue
      }
      throw ValidationError(
        "\(option) would replace the picture '\(source.name)'"
          + (output == source.name ? "" : ", which is '\(output)'") + ": choose another place")
    }
  }

  /// Says which files results replace in a folder that has pictures of this command: they may be other pictures, whose names were not
  /// given.
  func warn(ofReplaced files: [String], in folder: String) {
    guard let identity = FileIdentity(ofFolderAt: folder) else { return }
    let folders = Set(lazy.filter { $0.embedded == nil }.map { parentFolder(of: $0.name) })
    let hasPictures = folders.contains { FileIdentity(ofFolderAt: $0) == identity }
    let replaced = hasPictures ? files.filter { FileIdentity(ofFileAt: $0) != nil } : []
    guard let first = replaced.first else { return }
    Output.writeError(
      "warning: '\(oneLine(first))'" + (replaced.count > 1 ? " and \(replaced.count - 1) more" : "")
        + " in the folder of the pictures \(replaced.count > 1 ? "are" : "is") replaced")
  }

  /// Refuses a folder for results, any number of a picture, that would replace one of these pictures.
  ///
  /// - Parameters:
  ///   - folder: Where the results go, as `stem-number.png`; nil for nowhere.
  ///   - stems: What the names of results begin with.
  func protect(fromFilesIn folder: String?, stems: [String], of option: String) throws {
    guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }
    let stems = Set(stems)
    let outputs = names.filter { name in
      guard name.hasSuffix(".png"), let dash = name.lastIndex(of: "-") else { return false }
      return stems.contains(String(name[..<dash]))
    }
    try protect(from: outputs.map { "\(folder)/\($0)" }, of: option)
  }
}
