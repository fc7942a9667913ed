// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import ApusVideo
import FoundationEssentials

/// A library, a program or fonts that some commands need.
package struct FoundSoftware: Encodable, Sendable {
  /// Its name.
  package let name: String
  /// The feature that needs it.
  package let purpose: String
  /// Its file, or the folder of fonts; nil if the system lacks it.
  package let file: String?
  /// A further fact, such as the number of fonts or the version of ffmpeg, or how to install what is missing; nil if there is neither.
  package let note: String?

  /// A library, the names by which it is loaded, one of its functions, and its package.
  private typealias Library = (
    name: String, purpose: String, files: [String], symbol: String, package: String
  )

  private static let libraries: [Library] = [
    ("turbojpeg", "JPEG", ["libturbojpeg.so.0"], "tjInitDecompress", "libturbojpeg0"),
    ("libpng", "PNG", ["libpng16.so.16"], "png_create_read_struct", "libpng16-16"),
    ("cairo", "drawing", ["libcairo.so.2"], "cairo_create", "libcairo2"),
    (
      "pango", "labels in any script", ["libpangocairo-1.0.so.0"], "pango_cairo_create_layout",
      "libpangocairo-1.0-0"
    ),
    ("webp", "WebP", ["libwebp.so.7", "libwebp.so.6"], "WebPGetDecoderVersion", "libwebp7"),
    ("openblas", "the kernel set blas", ["libopenblas.so.0"], "cblas_sgemm", "libopenblas0"),
    ("zmq", "apus-server --frigate", ["libzmq.so.5"], "zmq_version", "libzmq5"),
  ]

  /// Looks for the libraries, which are loaded, for fonts and for ffmpeg.
  package static func all() -> [FoundSoftware] {
    #if os(Linux)
      var found = libraries.map { library in
        let file = SystemLibrary.file(of: library.files, with: library.symbol)
        return FoundSoftware(
          name: library.name, purpose: library.purpose, file: file,
          note: file == nil ? "apt-get install \(library.package)" : nil)
      }
    #else
      var found: [FoundSoftware] = []
    #endif
    let ffmpeg = ChildProcess.find("ffmpeg")
    found.append(
      FoundSoftware(
        name: "ffmpeg", purpose: "videos and streams", file: ffmpeg,
        note: ffmpeg.map { FFmpeg.version(of: $0).map { "version \($0)" } ?? "does not say its version" }
          ?? "apt-get install ffmpeg"))
    found.append(fonts())
    return found
  }

  private static func fonts() -> FoundSoftware {
    let home = unsafe getenv("HOME").map { unsafe String(cString: $0) }
    let folders =
      ["/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts"]
      + (home.map { ["\($0)/.fonts", "\($0)/.local/share/fonts", "\($0)/Library/Fonts"] } ?? [])
    var counts: [(folder: String, count: Int)] = []
    for folder in folders {
      let files = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
      let count = files.count { file in
        ["ttf", "otf", "ttc", "pfb"].contains { file.lowercased().hasSuffix(".\($0)") }
      }
      if count > 0 { counts.append((folder, count)) }
    }
    let total = counts.reduce(0) { $0 + $1.count }
    return FoundSoftware(
      name: "fonts", purpose: "labels in pictures", file: counts.first?.folder,
      note: total > 0 ? "\(total) files" : "apt-get install fonts-dejavu-core")
  }
}
