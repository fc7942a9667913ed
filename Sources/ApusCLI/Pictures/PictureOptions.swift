// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import Dispatch

/// Which pictures a command works on, and how many at once.
struct PictureOptions: ParsableArguments {
  @Argument(help: "Pictures (JPEG, PNG, BMP, WebP, PNM), folders of them, or - for names on standard input.")
  var image: [String] = []

  @Flag(help: "Also look into subfolders.")
  var recursive = false

  @Option(name: .long, help: "Pictures at once; by default one for each processor.")
  var jobs: Int?

  @OptionGroup var size: PictureLimitOptions

  @OptionGroup var traceOptions: TraceOptions

  @Flag(help: "Show no progress bar.")
  var quiet = false

  @Flag(help: "Print one JSON object a line, for each picture.")
  var json = false

  func validate() throws {
    if let jobs, !(1...256).contains(jobs) {
      throw ValidationError("--jobs is \(jobs), not 1 to 256")
    }
  }

  /// The pictures that the arguments name, in order.
  ///
  /// - Parameter areFrames: Whether they are those of one video.
  func sources(areFrames: Bool = false) throws -> PictureSources {
    guard !image.isEmpty else { throw ValidationError("no picture is given") }
    return try PictureSources(image, recursive: recursive, areFrames: areFrames)
  }
}

/// Where annotated pictures go.
struct AnnotationOptions: ParsableArguments {
  @Option(name: .long, help: "The file for the picture with its results drawn: .png, .jpg or .ppm.")
  var annotate: String?

  @Option(name: .long, help: "The folder for all pictures with their results drawn, as .png.")
  var annotateDir: String?

  func validate() throws {
    if annotate != nil, annotateDir != nil {
      throw ValidationError("--annotate and --annotate-dir exclude each other")
    }
    if let annotate, ![.png, .jpeg, .pnm].contains(ImageFileFormat(path: annotate)) {
      throw ValidationError("--annotate \(annotate) is not a .png, .jpg or .ppm file")
    }
  }

  /// A different file for each picture, none of which is a picture itself; empty if none is requested.
  func files(for sources: PictureSources) throws -> [String] {
    if let annotate {
      guard sources.count == 1 else {
        throw ValidationError("--annotate takes one picture, not \(sources.count); use --annotate-dir")
      }
      try sources.protect(from: [annotate], of: "--annotate")
      return [annotate]
    }
    guard let annotateDir else { return [] }
    let files = Self.stems(of: sources).map { "\(annotateDir)/\($0).png" }
    try sources.protect(from: files, of: "--annotate-dir")
    sources.warn(ofReplaced: files, in: annotateDir)
    return files
  }

  /// Refuses files for something else that would replace annotated pictures.
  ///
  /// - Parameter option: The option that names the others.
  static func check(_ files: [String], apartFrom others: [String], of option: String) throws {
    let annotated = Set(files.map(\.plainPath))
    // Files that are there may have several names.
    let identities = Set(files.compactMap(FileIdentity.init(ofFileAt:)))
    func isAnnotated(_ other: String) -> Bool {
      annotated.contains(other.plainPath)
        || !identities.isEmpty && FileIdentity(ofFileAt: other).map(identities.contains) ?? false
    }
    if let same = others.first(where: isAnnotated) {
      throw ValidationError("\(option) and the annotated picture are both '\(same)': choose two places")
    }
  }

  /// As ``check(_:apartFrom:of:)`` for any number of files of a picture, `stem-number.png` in a folder.
  ///
  /// - Parameter folder: Where they go; nil for nowhere.
  static func check(_ files: [String], apartFromFilesIn folder: String?, stems: [String], of option: String)
    throws
  {
    guard let folder else { return }
    let (stems, identity) = (Set(stems), FileIdentity(ofFolderAt: folder))
    let others = files.filter { file in
      let name = file.split(separator: "/").last ?? ""
      guard name.hasSuffix(".png"), let dash = name.lastIndex(of: "-"), stems.contains(String(name[..<dash])),
        name[dash...].dropFirst().dropLast(4).allSatisfy(\.isWholeNumber)
      else { return false }
      let parent = parentFolder(of: file)
      return parent.plainPath == folder.plainPath
        || identity != nil && identity == FileIdentity(ofFolderAt: parent)
    }
    try check(files, apartFrom: others, of: option)
  }

  /// A different file name without its extension for each picture.
  static func stems(of sources: PictureSources) -> [String] {
    var taken: Set<String> = []
    // Where to go on for each stem: what was taken stays so.
    var numbers: [String: Int] = [:]
    return sources.map { source in
      let name = source.name.split(separator: "/").last.map(String.init) ?? "picture"
      let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
      for candidate in [stem, name] where taken.insert(candidate).inserted { return candidate }
      var number = numbers[stem] ?? 4
      while !taken.insert("\(stem)-\(number)").inserted { number += 1 }
      numbers[stem] = number + 1
      return "\(stem)-\(number)"
    }
  }
}
