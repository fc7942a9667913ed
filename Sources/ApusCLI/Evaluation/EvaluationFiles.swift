// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVision
import FoundationEssentials

/// Finds the files that an evaluation is about, in folders and lists.
struct EvaluationFiles {
  /// Whether what has no counterpart is left out rather than refused.
  let onlyCommon: Bool
  /// Whether folders have pictures or sounds of kinds that are not read: then the command ends with status 2.
  private(set) var leaveOutFiles = false

  init(onlyCommon: Bool) { self.onlyCommon = onlyCommon }

  private static let maximumCount = 1 << 22
  /// How many names an error mentions.
  private static let maximumNames = 3

  // MARK: Classes

  /// Files with a class each: those of a folder whose subfolders are classes, of a folder with a list, or of a list.
  ///
  /// - Throws: `invalidArgument` if there are none, one of them has no class, or a class has none of them.
  mutating func classified(_ data: String, truth: String?) throws(ApusError) -> [EvaluationItem] {
    guard FolderEntry.isFolder(data) else {
      if truth != nil {
        throw ApusError(
          .invalidArgument, "--truth is given, but '\(data)' is a list, which has the classes itself")
      }
      return try present(items(of: EvaluationList(data), in: Self.folder(of: data)), data)
    }
    if let truth {
      let list = try items(of: EvaluationList(truth), in: data)
      let files = try files(in: data, kind: nil)
      return try common(list, with: files, truth: truth)
    }
    let entries = try FolderEntry.all(in: data)
    for entry in entries { try entry.checkName() }
    let folders = entries.filter(\.isFolder)
    guard !folders.isEmpty else {
      throw ApusError(
        .invalidArgument,
        "the folder '\(data)' has no subfolders, which are the classes; or give these with --truth, a list of name,class lines"
      )
    }
    // A class is a folder: a file beside the folders has none.
    let others = entries.filter { !$0.isFolder }.map { (name: $0.name, path: $0.path) }
    let (beside, leftOut) = Self.split(others, kind: nil)
    say(leftOut, of: data)
    try report(beside.map(\.name), "file", "no folder of a class in '\(data)'")
    var items: [EvaluationItem] = []
    var empty: [String] = []
    for folder in folders {
      let files = try files(in: folder.path, kind: nil)
      if files.isEmpty { empty.append(folder.name) }
      for file in files {
        items.append(
          EvaluationItem(
            name: "\(folder.name)/\(file.name)", path: file.path, truth: folder.name,
            place: "the folder '\(folder.path)'"))
      }
    }
    guard !items.isEmpty else {
      throw ApusError(.invalidArgument, "the folders in '\(data)' have no picture, .npy, .bin or .wav file")
    }
    try report(empty, "folder", "no picture, .npy, .bin or .wav file")
    return items
  }

  /// The files that a list names, with their classes.
  private func items(of list: EvaluationList, in folder: String) throws(ApusError) -> [EvaluationItem] {
    var items: [EvaluationItem] = []
    var without: [String] = []
    for entry in list.entries {
      guard let truth = entry.truth else {
        if onlyCommon {
          without.append(entry.name)
          continue
        }
        throw ApusError(
          .invalidArgument,
          "line \(entry.line) of '\(list.path)' is '\(entry.name)' without a class, not name,class")
      }
      items.append(
        EvaluationItem(
          name: entry.name, path: Self.joined(folder, entry.name), truth: truth,
          place: "line \(entry.line) of '\(list.path)'"))
    }
    try report(without, "line", "no class in '\(list.path)'")
    return items
  }

  /// The files of a list; with the option for it, without those that are not there.
  private func present(_ items: [EvaluationItem], _ list: String) throws(ApusError) -> [EvaluationItem] {
    try checkFolder(of: items, list)
    guard onlyCommon else { return items }
    func isThere(_ path: String?) -> Bool { path.map { FileManager.default.fileExists(atPath: $0) } ?? true }
    try report(items.filter { !isThere($0.path) }.map(\.name), "line", "no file")
    let found = items.filter { isThere($0.path) }
    try report(found.filter { !isThere($0.mask) }.map(\.name), "line", "no mask")
    let complete = found.filter { isThere($0.mask) }
    guard !complete.isEmpty else {
      throw ApusError(.invalidArgument, "no line of '\(list)' has its file and truth")
    }
    return complete
  }

  /// Refuses a list whose names are relative to the current folder rather than to its own.
  private func checkFolder(of items: [EvaluationItem], _ list: String) throws(ApusError) {
    let files = FileManager.default
    guard items.contains(where: \.isRelativeToList),
      items.allSatisfy({ !files.fileExists(atPath: $0.path) && files.fileExists(atPath: $0.name) })
    else { return }
    throw ApusError(
      .invalidArgument,
      "names are relative to the list '\(list)', whose folder has none of its files, but the current folder has all of them: "
        + "move the list here"
    )
  }

  // MARK: Objects and masks

  /// Pictures of objects: those of a folder and its subfolders, or of a list of names.
  mutating func pictures(_ data: String) throws(ApusError) -> [EvaluationItem] {
    if FolderEntry.isFolder(data) { return try files(in: data, kind: .picture) }
    let list = try EvaluationList(data)
    let items = list.entries.map {
      EvaluationItem(
        name: $0.name, path: Self.joined(Self.folder(of: data), $0.name),
        place: "line \($0.line) of '\(data)'")
    }
    return try present(items, data)
  }

  /// Pictures with a mask each: those of two folders with the same names, or of a list of `picture,mask` lines.
  mutating func masked(_ data: String, truth: String?) throws(ApusError) -> [EvaluationItem] {
    guard FolderEntry.isFolder(data) else {
      if truth != nil {
        throw ApusError(
          .invalidArgument, "--truth is given, but '\(data)' is a list, which has the masks itself")
      }
      let list = try EvaluationList(data)
      var items: [EvaluationItem] = []
      var without: [String] = []
      for entry in list.entries {
        guard let mask = entry.truth else {
          if onlyCommon {
            without.append(entry.name)
            continue
          }
          throw ApusError(
            .invalidArgument,
            "line \(entry.line) of '\(data)' is '\(entry.name)' without a mask, not picture,mask")
        }
        let folder = Self.folder(of: data)
        items.append(
          EvaluationItem(
            name: entry.name, path: Self.joined(folder, entry.name), mask: Self.joined(folder, mask),
            place: "line \(entry.line) of '\(data)'"))
      }
      try report(without, "line", "no mask in '\(data)'")
      return try present(items, data)
    }
    let truth = truth ?? ""
    guard FolderEntry.isFolder(truth) else {
      throw ApusError(
        .invalidArgument,
        "--truth '\(truth)' is no folder; it must have a mask for each picture: picture.png for picture.jpg")
    }
    func stem(_ name: String) -> String { name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name }
    var masks: [String: String] = [:]
    var leftOut = LeftOutFiles()
    for (name, path) in try names(in: truth) {
      guard [".png", ".npy"].contains(where: name.lowercased().hasSuffix) else {
        leftOut.addFile(Self.last(name))
        continue
      }
      if let other = masks.updateValue(path, forKey: stem(name)) {
        throw ApusError(
          .invalidArgument, "'\(other)' and '\(path)' are both masks of '\(stem(name))'; leave one of them")
      }
    }
    say(leftOut, of: truth)
    var (items, without): ([EvaluationItem], [String]) = ([], [])
    var owners: [String: String] = [:]
    for picture in try files(in: data, kind: .picture) {
      guard let mask = masks[stem(picture.name)] else {
        without.append(picture.name)
        continue
      }
      if let other = owners.updateValue(picture.path, forKey: mask) {
        throw ApusError(
          .invalidArgument,
          "'\(other)' and '\(picture.path)' are both pictures of '\(mask)'; leave one of them")
      }
      items.append(EvaluationItem(name: picture.name, path: picture.path, mask: mask, place: "'\(mask)'"))
    }
    try report(without, "picture", "no mask in '\(truth)'")
    try report(masks.values.filter { owners[$0] == nil }.sorted(), "mask", "no picture in '\(data)'")
    guard !items.isEmpty else {
      throw ApusError(.invalidArgument, "no picture in '\(data)' has a mask of its name in '\(truth)'")
    }
    return items
  }

  /// Refuses names without a counterpart, or says that they are left out.
  ///
  /// - Parameters:
  ///   - what: What a name is, in the singular.
  ///   - lack: What it does not have.
  func report(_ names: [String], _ what: String, _ lack: String) throws(ApusError) {
    guard let first = names.first else { return }
    let more = names.count > Self.maximumNames ? ", …" : ""
    let list = names.prefix(Self.maximumNames).map { "'\($0)'" }.joined(separator: ", ") + more
    let many = names.count == 1 ? what : "\(what)s"
    guard onlyCommon else {
      throw ApusError(
        .invalidArgument,
        names.count == 1
          ? "the \(what) '\(first)' has \(lack); --common leaves it out"
          : "\(names.count) \(many) have \(lack): \(list); --common leaves them out")
    }
    Output.writeError("warning: " + oneLine("\(names.count) \(many) with \(lack) left out: \(list)"))
  }

  private func common(
    _ items: [EvaluationItem], with files: [EvaluationItem], truth: String
  ) throws(ApusError) -> [EvaluationItem] {
    let listed = Set(items.map { Self.plain($0.name) })
    let present = Set(files.map { Self.plain($0.name) })
    try report(files.map(\.name).filter { !listed.contains(Self.plain($0)) }, "file", "no line in '\(truth)'")
    try report(items.map(\.name).filter { !present.contains(Self.plain($0)) }, "line", "no file")
    let complete = items.filter { present.contains(Self.plain($0.name)) }
    guard !complete.isEmpty else {
      throw ApusError(.invalidArgument, "no line of '\(truth)' has its file and class")
    }
    return complete
  }

  /// A name without parts that lead nowhere, such as the first of `./burger.jpg`.
  private static func plain(_ name: String) -> String {
    let parts = name.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    return name.hasPrefix("/") ? "/" + parts : parts
  }

  // MARK: Folders

  /// The files of a folder and its subfolders that are read, in the order of their names' bytes.
  private mutating func files(
    in folder: String, kind: EvaluationItem.Kind?
  ) throws(ApusError) -> [EvaluationItem] {
    let (items, leftOut) = Self.split(try names(in: folder), kind: kind)
    guard !items.isEmpty || kind == nil else {
      throw ApusError(
        .invalidArgument, "there is no picture in '\(folder)'" + (leftOut.text.map { ": \($0)" } ?? ""))
    }
    say(leftOut, of: folder)
    return items
  }

  /// The files that are read, and what else there is.
  ///
  /// - Parameter kind: The kind of files that are read; nil for all of them.
  private static func split(
    _ names: [(name: String, path: String)], kind: EvaluationItem.Kind?
  ) -> (items: [EvaluationItem], leftOut: LeftOutFiles) {
    var (items, leftOut): ([EvaluationItem], LeftOutFiles) = ([], LeftOutFiles())
    for (name, path) in names {
      if let found = EvaluationItem.Kind(name: name), kind == nil || kind == found {
        items.append(EvaluationItem(name: name, path: path))
      } else {
        leftOut.addFile(last(name))
      }
    }
    return (items, leftOut)
  }

  /// Says what a folder has besides files that are read.
  private mutating func say(_ leftOut: LeftOutFiles, of folder: String) {
    if let text = leftOut.text { Output.writeError("'\(oneLine(folder))': \(text)") }
    if leftOut.hasPictures || leftOut.hasSounds { leaveOutFiles = true }
  }

  private static func last(_ name: String) -> String {
    name.lastIndex(of: "/").map { String(name[name.index(after: $0)...]) } ?? name
  }

  /// The files of a folder and its subfolders, each with its name in the folder and its path; hidden ones are left out.
  private func names(in folder: String) throws(ApusError) -> [(name: String, path: String)] {
    var found: [(name: String, path: String)] = []
    try FolderEntry.forEachFile(in: folder, isRecursive: true) { name, entry throws(ApusError) in
      guard found.count < Self.maximumCount else {
        throw ApusError(.resourceLimit, "there are more than \(Self.maximumCount) files")
      }
      try entry.checkName()
      found.append((name, entry.path))
    }
    return found
  }

  /// The folder that the names of a list are relative to: its own, or for standard input and other pipes the current one.
  private static func folder(of path: String) -> String {
    guard path != "-", FileIdentity(ofFileAt: path) != nil else { return "" }
    return path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ""
  }

  private static func joined(_ folder: String, _ name: String) -> String {
    folder.isEmpty || name.hasPrefix("/") ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }
}
