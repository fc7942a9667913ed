// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision

/// The report of `apus inspect` about a bundle of models; its properties are the keys of the JSON document,
/// in `snake_case`.
struct BundleInspection: Encodable {
  /// An entry of the bundle: a model, another bundle, or other data.
  struct Entry: Encodable {
    let name: String
    let bytes: Int
    /// For a model.
    var model: Inspection?
    /// For a bundle in the bundle.
    var bundle: BundleInspection?
    /// Why a model or a bundle cannot be read.
    var error: String?
  }

  let file: String
  /// The command that takes the bundle as a whole; nil if none does.
  let command: String?
  private(set) var entries: [Entry] = []

  /// The maximum number of entries that are looked at, those of bundles in the bundle included.
  private static let maximumEntryCount = 64
  /// How deep bundles lie in each other.
  private static let maximumDepth = 4

  /// The report of a file; nil if it is no bundle of models.
  ///
  /// - Throws: Errors that concern all models, such as a wrong name of kernels.
  init?(path: String, showsPlan: Bool, options: Interpreter.Options) throws(ApusError) {
    guard let bundle = try? TaskBundle(contentsOfFile: path), Self.hasModels(bundle) else { return nil }
    var count = 0
    try self.init(bundle, path, depth: 1, &count, showsPlan, options)
  }

  private static func hasModels(_ bundle: TaskBundle) -> Bool {
    bundle.entryNames.contains { isModel($0) || isBundle($0) }
  }

  private static func isModel(_ name: String) -> Bool { name.lowercased().hasSuffix(".tflite") }

  private static func isBundle(_ name: String) -> Bool { name.lowercased().hasSuffix(".task") }

  private init(
    _ bundle: TaskBundle, _ file: String, depth: Int, _ count: inout Int, _ showsPlan: Bool,
    _ options: Interpreter.Options
  ) throws(ApusError) {
    self.file = file
    command = bundle.command
    for name in bundle.entryNames {
      count += 1
      guard count <= Self.maximumEntryCount else {
        throw ApusError(
          .resourceLimit,
          "the bundle '\(file)' has more than \(Self.maximumEntryCount) entries, the most that are inspected")
      }
      var entry = Entry(name: name, bytes: bundle.size(of: name) ?? 0)
      let path = "\(file)/\(name)"
      do throws(ApusError) {
        if Self.isModel(name) {
          entry.model = try Inspection(
            bundle.model(named: name), path: path, showsPlan: showsPlan, options: options)
          try entry.model?.checkLength()
        } else if Self.isBundle(name), depth < Self.maximumDepth {
          let inner = try bundle.bundle(named: name)
          entry.bundle = try BundleInspection(inner, path, depth: depth + 1, &count, showsPlan, options)
        }
      } catch {
        // A wrong name of kernels is the caller's mistake, and a limit ends the report.
        if error.code == .invalidArgument || error.code == .resourceLimit { throw error }
        entry.error = error.message
      }
      entries.append(entry)
    }
  }

  /// The report for people; `all` leaves nothing out.
  func text(all: Bool) -> String {
    var rows = [["entries:", "bytes", "contents"]]
    for entry in entries { rows.append([oneLine(entry.name), "\(entry.bytes)", contents(of: entry)]) }
    let title =
      "\(oneLine(file)): a bundle of \(entries.count) \(entries.count == 1 ? "entry" : "entries")"
      + (command.map { ", for apus \($0)" } ?? "")
    let parts = entries.compactMap { entry in
      entry.model.map { all ? $0.text(all: true) : $0.summary } ?? entry.bundle?.text(all: all)
    }
    return ([title + "\n" + table(rows, rightAligned: [1])] + parts).joined(separator: "\n\n")
  }

  private func contents(of entry: Entry) -> String {
    if let model = entry.model { return model.runs ? "a model that runs" : "a model that cannot run" }
    if entry.bundle != nil { return "a bundle" }
    return entry.error.map { "damaged: \(oneLine($0))" } ?? "data"
  }
}
