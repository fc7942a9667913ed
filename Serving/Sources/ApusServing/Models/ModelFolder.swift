// SPDX-License-Identifier: Apache-2.0
import Apus
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The layout of a folder of models: `NAME.tflite`, `NAME/VERSION/model.tflite` or `NAME/model.tflite`, with labels beside the model.
///
/// The labels of a model are in the first of `NAME.txt`, `NAME.labels.txt` and `NAME_labels.txt` that is there, or else of `labels.txt`,
/// `labelmap.txt` and `dict.txt`, if no other model is in their folder. In a model's own folder its file is called `model`, and labels may
/// be, too.
///
/// Pipes, devices, sockets and links that lead nowhere are listed with the reason why they are not served; none is opened.
enum ModelFolder {
  /// How the files of models end, and those of bundles; in the names of files, in capitals, too.
  private static let endings = [".tflite", ".task"]

  /// The ending of a model's or bundle's file as it stands in its name; nil for other files.
  private static func ending(of file: String) -> Substring? {
    endings.lazy.map { file.suffix($0.count) }.first {
      endings.contains($0.lowercased()) && $0.count < file.count
    }
  }

  /// The models in a folder, by name and version.
  static func sources(in folder: String) throws(ApusError) -> [ModelSource] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } catch {
      throw ApusError(.unreadableFile, "the folder '\(folder)' cannot be read")
    }
    var sources: [ModelSource] = []
    for name in names where !name.hasPrefix(".") {
      let path = "\(folder)/\(name)"
      if kind(of: path) == .folder {
        sources += models(named: name, in: path)
      } else if name.unicodeScalars.contains("\u{FFFD}"), kind(of: path) == .nothing {
        // Letters that are not UTF-8 are lost in the name, so that no path leads there.
        sources.append(
          ModelSource(
            name: name, path: path, problem: "the name '\(name)' is not UTF-8: rename the file or folder"))
      } else if ending(of: name) != nil {
        sources.append(source(ofFile: path))
      } else if kind(of: path) == .nothing {
        sources.append(
          ModelSource(name: name, path: path, problem: "the link '\(path)' leads nowhere, or to itself"))
      }
    }
    return sources
  }

  /// Refuses two models of one name and version. Names that look alike because they are the same characters in Unicode,
  /// composed or decomposed, are one name.
  static func check(_ sources: [ModelSource]) throws(ApusError) {
    for (index, source) in sources.enumerated() {
      let other = sources[..<index].first { $0.name == source.name && $0.version == source.version }
      if let other {
        throw ApusError(
          .invalidArgument,
          "two models have the name '\(source.name)': \(other.path ?? "") and \(source.path ?? "")")
      }
    }
  }

  /// The model of one file, by its stem.
  static func source(ofFile path: String) -> ModelSource {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let stem = String(file.dropLast(ending(of: file)?.count ?? 0))
    let folder = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
    let labels = labels(ofModelsCalled: [stem], in: folder.isEmpty ? "/" : folder)
    return ModelSource(name: stem, path: path, labelPath: labels, problem: problem(withLabels: labels))
  }

  private static func models(named name: String, in folder: String) -> [ModelSource] {
    var sources: [ModelSource] = []
    let names = [name, "model"]
    let ignored = TritonConfiguration(inFolder: folder)?.settings ?? []
    let shared = labels(ofModelsCalled: names, in: folder)
    let plain = modelFile(in: folder)
    if kind(of: plain) != .nothing {
      sources.append(
        ModelSource(
          name: name, path: plain, labelPath: shared, problem: problem(withLabels: shared),
          ignoredSettings: ignored))
    }
    let versions: [String]
    do { versions = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      return [ModelSource(name: name, path: plain, problem: "the folder '\(folder)' cannot be read")]
    }
    for version in versions.sorted() {
      let path = modelFile(in: "\(folder)/\(version)")
      guard isVersion(version), kind(of: path) != .nothing else { continue }
      let own = labels(ofModelsCalled: names, in: "\(folder)/\(version)") ?? shared
      sources.append(
        ModelSource(
          name: name, version: version, path: path, labelPath: own, problem: problem(withLabels: own),
          ignoredSettings: ignored))
    }
    return sources
  }

  /// Whether the name of a folder is a version: a number from 1, without zeros before it, as for Triton.
  private static func isVersion(_ name: String) -> Bool {
    UInt64(name).map { $0 > 0 && String($0) == name } ?? false
  }

  // MARK: Notes

  /// The most notes about a folder; one more says how many there are.
  private static let maximumNotes = 32

  /// Notes on a folder's entries that are not served as expected: folders without a model, and settings that
  /// are not heeded.
  static func notes(in folder: String) -> [FolderNote] {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    var notes: [FolderNote] = []
    for name in names where !name.hasPrefix(".") && kind(of: "\(folder)/\(name)") == .folder {
      let path = "\(folder)/\(name)"
      let models = models(named: name, in: path)
      if models.isEmpty {
        notes.append(FolderNote(name: name, reason: emptiness(of: path)))
      } else if let ignored = models.first?.ignoredSettings, !ignored.isEmpty {
        notes.append(
          FolderNote(
            name: name,
            reason:
              "\(TritonConfiguration.fileName) is not heeded; it sets \(ignored.joined(separator: ", "))"))
      }
    }
    guard notes.count > maximumNotes else { return notes }
    return notes.prefix(maximumNotes) + [
      FolderNote(
        name: folder,
        reason: "\(notes.count - maximumNotes) more folders are not served, or not as they are configured")
    ]
  }

  /// Why a folder has no model that is served, with the files that it has instead.
  private static func emptiness(of folder: String) -> String {
    var found: [String] = []
    var misnamed: String?
    for entry in ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    where !entry.hasPrefix(".") {
      let path = "\(folder)/\(entry)"
      guard kind(of: path) == .folder else {
        found.append(entry)
        continue
      }
      if misnamed == nil, !isVersion(entry), kind(of: modelFile(in: path)) != .nothing { misnamed = entry }
      let inner = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
      found += inner.prefix(maximumFound).map { "\(entry)/\($0)" }
    }
    let list = found.prefix(maximumFound).joined(separator: ", ") + (found.count > maximumFound ? ", …" : "")
    let because = misnamed.map { "'\($0)' is no version, a number from 1 without zeros before it" }
    return (because ?? "the folder has neither model.tflite nor VERSION/model.tflite")
      + (found.isEmpty ? "" : "; it has \(list)")
  }

  /// The most files that a note lists.
  private static let maximumFound = 4

  /// The model of a folder, or else its bundle; where there is neither, the path that the model would have.
  private static func modelFile(in folder: String) -> String {
    let paths = endings.map { "\(folder)/model\($0)" }
    return paths.first { kind(of: $0) != .nothing } ?? paths[0]
  }

  // MARK: Kinds of files

  /// Whether there is a regular file at a path, or where its links lead to.
  static func isFile(_ path: String) -> Bool { kind(of: path) == .file }

  private enum Kind {
    case file, folder, other, nothing
  }

  /// The kind of the file at a path, or of the target of its links.
  private static func kind(of path: String) -> Kind {
    var status = stat()
    guard stat(path, &status) == 0 else { return .nothing }
    return switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    default: .other
    }
  }

  /// An error message if the label file is not a regular file: reading a pipe would block until a process writes to it.
  private static func problem(withLabels path: String?) -> String? {
    guard let path, kind(of: path) != .file else { return nil }
    return "the label file '\(path)' is not a regular file"
  }

  /// The label file of a model in a folder.
  ///
  /// - Parameter names: What the model is called.
  private static func labels(ofModelsCalled names: [String], in folder: String) -> String? {
    let own = names.flatMap { ["\($0).txt", "\($0).labels.txt", "\($0)_labels.txt"] }
    let path = { (name: String) in "\(folder)/\(name)" }
    let isThere = { (path: String) in ![.nothing, .folder].contains(kind(of: path)) }
    if let found = own.map(path).first(where: isThere) { return found }
    guard let found = ["labels.txt", "labelmap.txt", "dict.txt"].map(path).first(where: isThere) else {
      return nil
    }
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let models = files.filter { file in !file.hasPrefix(".") && ending(of: file) != nil }
    return models.count <= 1 ? found : nil
  }
}
