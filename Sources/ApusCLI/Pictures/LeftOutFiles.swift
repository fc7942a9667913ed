// SPDX-License-Identifier: Apache-2.0

/// The files of folders that are not read, counted by kind.
struct LeftOutFiles {
  /// The folders that were looked into.
  var folders: [String] = []
  private var counts: [String: Int] = [:]
  private var folderCount = 0
  /// The text behind the number of folders: why they are left out.
  var folderHint = " (see --recursive)"
  /// Whether some of them are pictures.
  private(set) var hasPictures = false
  /// Whether some of them are sounds.
  private(set) var hasSounds = false

  /// The format names of picture files that are not read, by file extension.
  private static let formats = [
    "heic": "HEIC", "heif": "HEIC", "hif": "HEIC", "avif": "AVIF", "gif": "GIF", "tif": "TIFF",
    "tiff": "TIFF", "jxl": "JPEG XL",
    "jp2": "JPEG 2000", "j2k": "JPEG 2000", "psd": "Photoshop", "ico": "icon", "svg": "SVG", "dng": "raw",
    "cr2": "raw",
    "cr3": "raw", "nef": "raw", "arw": "raw", "orf": "raw", "raf": "raw", "rw2": "raw",
  ]
  /// The extensions of sound files that are not read.
  private static let sounds: Set<String> = [
    "mp3", "m4a", "m4b", "aac", "ogg", "oga", "opus", "flac", "aif", "aiff", "aifc", "amr", "au", "snd",
    "caf", "wma", "rf64", "w64", "mka", "weba",
  ]
  /// More kinds are not named.
  private static let maximumKinds = 8

  /// Counts a file by its name.
  mutating func addFile(_ name: String) {
    guard let dot = name.lastIndex(of: "."), name.index(after: dot) < name.endIndex else {
      counts["without an extension", default: 0] += 1
      return
    }
    let ending = name[name.index(after: dot)...].lowercased()
    if Self.formats[ending] != nil { hasPictures = true }
    if Self.sounds.contains(ending) { hasSounds = true }
    counts[Self.formats[ending] ?? ".\(ending)", default: 0] += 1
  }

  /// Counts folders that are not looked into.
  mutating func addFolders(_ count: Int) { folderCount += count }

  /// For example `2 HEIC, 1 .txt left out`; nil if nothing is.
  var text: String? {
    // The most frequent first; ties in the order of the alphabet.
    let kinds = counts.sorted { $0.value > $1.value || $0.value == $1.value && $0.key < $1.key }
    var parts = kinds.prefix(Self.maximumKinds).map { "\($0.value) \($0.key)" }
    let others = kinds.dropFirst(Self.maximumKinds).reduce(0) { $0 + $1.value }
    if others > 0 { parts.append("\(others) of other kinds") }
    if folderCount > 0 {
      parts.append("\(folderCount) folder\(folderCount == 1 ? "" : "s")\(folderHint)")
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ") + " left out"
  }
}
