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
  /// How the files of models end, and those of bundles.
  private static let endings = [".tflite", ".task"]

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
      } else if endings.contains(where: { name.hasSuffix($0) && name.count > $0.count }) {
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
    let ending = endings.first { file.hasSuffix($0) } ?? ""
    let stem = String(file.dropLast(ending.count))
    let folder = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
    let labels = labels(ofModelsCalled: [stem], in: folder.isEmpty ? "/" : folder)
    return ModelSource(name: stem, path: path, labelPath: labels, problem: problem(withLabels: labels))
  }

  private static func models(named name: String, in folder: String) -> [ModelSource] {
    var sources: [ModelSource] = []
    let names = [name, "model"]
    let shared = labels(ofModelsCalled: names, in: folder)
    let plain = modelFile(in: folder)
    if kind(of: plain) != .nothing {
      sources.append(
        ModelSource(name: name, path: plain, labelPath: shared, problem: problem(withLabels: shared)))
    }
    let versions: [String]
    do { versions = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      return [ModelSource(name: name, path: plain, problem: "the folder '\(folder)' cannot be read")]
    }
    for version in versions.sorted() {
      let path = modelFile(in: "\(folder)/\(version)")
      guard let number = UInt64(version), number > 0, String(number) == version, kind(of: path) != .nothing
      else { continue }
      let own = labels(ofModelsCalled: names, in: "\(folder)/\(version)") ?? shared
      sources.append(
        ModelSource(
          name: name, version: version, path: path, labelPath: own, problem: problem(withLabels: own)))
    }
    return sources
  }

  /// The model of a folder, or else its bundle; where there is neither, the path that the model would have.
  private static func modelFile(in folder: String) -> String {
    let paths = endings.map { "\(folder)/model\($0)" }
    return paths.first { kind(of: $0) != .nothing } ?? paths[0]
  }

  // MARK: Kinds of files

  private enum Kind {
    case file, folder, other, nothing
  }

  /// What is at a path, or where its links lead to.
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
    let models = files.filter { file in !file.hasPrefix(".") && endings.contains(where: file.hasSuffix) }
    return models.count <= 1 ? found : nil
  }
}
