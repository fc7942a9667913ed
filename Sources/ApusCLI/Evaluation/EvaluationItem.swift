// SPDX-License-Identifier: Apache-2.0

import ApusImages
import ApusVision
import FoundationEssentials

/// A file to evaluate, and what the truth says of it.
struct EvaluationItem: Sendable {
  /// How a file's contents reach the model, decided by its name.
  enum Kind: String, Sendable {
    case picture = "pictures"
    case tensor = "tensors"
    case sound = "sounds"

    /// The kind of a file with a name; nil for files that are not read.
    init?(name: String) {
      switch name.lastIndex(of: ".").map({ name[$0...].lowercased() }) {
      case ".npy", ".bin": self = .tensor
      case ".wav", ".wave": self = .sound
      default:
        guard ImageFileFormat(path: name) != nil else { return nil }
        self = .picture
      }
    }
  }

  /// The file as the folder or the list names it.
  let name: String
  /// Where it is.
  let path: String
  /// Whether a list names it, relative to a folder of its own.
  var isRelativeToList: Bool { place.hasPrefix("line ") && path != name }
  /// The class that the truth says; empty where it says something else.
  var truth = ""
  /// Where the mask is that is the truth.
  var mask: String?
  /// The place that gives the truth, such as `line 3 of 'list.csv'`.
  var place = ""

  /// The file and its mask as they are now.
  var state: EvaluationFileState {
    let paths = [path, mask].compactMap(\.self)
    return EvaluationFileState(
      bytes: paths.reduce(0) { $0 + ((try? regularFileSize(at: $1)) ?? 0) },
      modified: paths.reduce(0) { ($0 &* 31 &+ (modificationTime(at: $1) ?? 0)) ^ Self.mark(of: $1) })
  }

  /// A number for the place of a file, however its path is written. Folders of masks often have files of equal names, sizes and times.
  private static func mark(of path: String) -> Int {
    // FNV-1a: the number is kept in files, and hash values of the library differ from process to process.
    let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return Int(
      bitPattern: UInt(
        truncatingIfNeeded: place.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
          ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }))
  }
}
