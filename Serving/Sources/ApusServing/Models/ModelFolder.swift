// SPDX-License-Identifier: Apache-2.0
import Apus
import Foundation

/// The layout of a folder of models: `NAME.tflite`, `NAME/VERSION/model.tflite` or `NAME/model.tflite`, with labels
/// beside the model as `labels.txt`, `NAME.txt`, `NAME.labels.txt`, `labelmap.txt` or `dict.txt`.
enum ModelFolder {
  /// The models in a folder, by name and version.
  static func sources(in folder: String) throws(ApusError) -> [ModelSource] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } catch {
      throw ApusError(.unreadableFile, "the folder '\(folder)' cannot be read")
    }
    var sources: [ModelSource] = []
    for name in names where !name.hasPrefix(".") {
      let path = "\(folder)/\(name)"
      if isFolder(path) {
        sources += models(named: name, in: path)
      } else if name.hasSuffix(".tflite"), name.count > ".tflite".count {
        sources.append(source(ofFile: path))
      }
    }
    return sources
  }

  /// The model of one file, by its stem.
  static func source(ofFile path: String) -> ModelSource {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let stem = file.hasSuffix(".tflite") ? String(file.dropLast(".tflite".count)) : file
    let folder = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
    let labels = ["\(stem).txt", "\(stem).labels.txt", "\(stem)_labels.txt"]
    return ModelSource(
      name: stem, path: path, labelPath: firstFile(labels, in: folder.isEmpty ? "/" : folder))
  }

  private static func models(named name: String, in folder: String) -> [ModelSource] {
    var sources: [ModelSource] = []
    let labels = ["labels.txt", "\(name).txt", "labelmap.txt", "dict.txt"]
    let shared = firstFile(labels, in: folder)
    let plain = "\(folder)/model.tflite"
    if FileManager.default.fileExists(atPath: plain) {
      sources.append(ModelSource(name: name, path: plain, labelPath: shared))
    }
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for version in versions.sorted() {
      let path = "\(folder)/\(version)/model.tflite"
      guard let number = UInt64(version), number > 0, String(number) == version,
        FileManager.default.fileExists(atPath: path)
      else { continue }
      let own = firstFile(labels, in: "\(folder)/\(version)")
      sources.append(ModelSource(name: name, version: version, path: path, labelPath: own ?? shared))
    }
    return sources
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder = ObjCBool(false)
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }

  private static func firstFile(_ names: [String], in folder: String) -> String? {
    names.map { "\(folder)/\($0)" }.first { FileManager.default.fileExists(atPath: $0) && !isFolder($0) }
  }
}
