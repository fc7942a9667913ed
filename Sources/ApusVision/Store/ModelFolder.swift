// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import Synchronization

/// The files of a store: `NAME.current`, a record of three lines that says which model counts, and `NAME-….tflite`.
///
/// Both are written under another name first and then renamed, so that each is there completely or not at all.
struct ModelFolder: Sendable {
  private static let heading = "ApusModel1"
  /// The maximum size of a record, in bytes.
  private static let maximumRecordSize = 4096
  private static let counter = Atomic<Int>(0)

  private let path: String
  private let name: String

  /// Makes the folder where there is none; its parent must be there.
  init(path: String, name: String) throws(ApusError) {
    self.path = path.hasSuffix("/") && path.count > 1 ? String(path.dropLast()) : path
    self.name = name
    guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw ApusError(.unwritableFile, "cannot make the folder '\(path)': \(systemReason(errno))")
    }
  }

  private var record: String { "\(path)/\(name).current" }

  private func file(of sha256: String) -> String { "\(path)/\(name)-\(sha256.prefix(16)).tflite" }

  /// A path that no other process or call uses.
  func temporaryPath() -> String {
    let number = Self.counter.add(1, ordering: .relaxed).newValue
    return "\(path)/\(name)-\(getpid())-\(number).part"
  }

  /// The model that counts; nil if there is no readable record, or no file.
  func current() -> ModelStore.StoredModel? {
    guard let bytes = try? readWholeFile(at: record, limit: Self.maximumRecordSize) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, lines[0] == Self.heading, lines[2].utf8.count == 64,
      lines[2].allSatisfy(\.isHexDigit)
    else { return nil }
    let sha256 = String(lines[2])
    let file = file(of: sha256)
    guard unsafe access(file, R_OK) == 0 else { return nil }
    return ModelStore.StoredModel(path: file, version: String(lines[1]), sha256: sha256)
  }

  /// Refuses a file with another SHA-256.
  func check(_ file: String, against expected: String) throws(ApusError) {
    let found = try fileSHA256(file)
    guard found == expected else {
      throw ApusError(.wrongChecksum, "the SHA-256 of '\(file)' is \(found), not \(expected)")
    }
  }

  /// Makes a file that was checked the model that counts, and removes the one that did.
  func install(_ part: String, version: String, sha256: String) throws(ApusError) -> ModelStore.StoredModel {
    let before = current()
    let file = file(of: sha256)
    try persist(part)
    try rename(part, to: file)
    let new = temporaryPath()
    defer { remove(new) }
    try write("\(Self.heading)\n\(version)\n\(sha256)\n", to: new)
    try rename(new, to: record)
    if let before, before.path != file { remove(before.path) }
    return ModelStore.StoredModel(path: file, version: version, sha256: sha256)
  }

  /// Makes no model the one that counts, if a certain one does.
  func forget(_ model: ModelStore.StoredModel) {
    guard current() == model else { return }
    remove(record)
    remove(model.path)
  }

  /// Removes a file, if there is one.
  func remove(_ file: String) { _ = unsafe unlink(file) }

  // MARK: Calls of the system

  private func rename(_ old: String, to new: String) throws(ApusError) {
    guard unsafe systemRename(old, new) == 0 else { throw unwritable(new) }
  }

  /// Waits until a file's bytes are on the disk.
  private func persist(_ file: String) throws(ApusError) {
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unwritable(file) }
    let status = fsync(descriptor)
    guard close(descriptor) == 0, status == 0 else { throw unwritable(file) }
  }

  private func write(_ text: String, to file: String) throws(ApusError) {
    let bytes = Array(text.utf8)
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw unwritable(file) }
    // So few bytes are written at once, or not at all.
    let count = unsafe systemWrite(descriptor, bytes, bytes.count)
    let status = fsync(descriptor)
    guard close(descriptor) == 0, status == 0, count == bytes.count else { throw unwritable(file) }
  }

  private func unwritable(_ file: String) -> ApusError {
    ApusError(.unwritableFile, "cannot write the file '\(file)': \(systemReason(errno))")
  }
}

/// Functions of the C library, out of the way of methods of those names.
private let systemRename = unsafe rename
private let systemWrite = unsafe write
