// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem
import ApusVision

/// Creates or replaces a file. If that fails, an existing file stays as it was. A .tflite model is not replaced: no result is one.
///
/// A regular file is written under a temporary name, or none if the system supports that, and then moved to
/// its place, so that no reader ever sees a part of it. A process that is killed leaves nothing behind if
/// files without names are supported; except at the moment in which it replaces another file, when the new
/// one may be left beside it, complete. Pipes and devices are written to directly, and so is a descriptor of this
/// process, such as `/dev/stdout`: after what it has written before.
///
/// - Throws: `unwritableFile` with the system's reason, or `invalidArgument` for a model.
package func writeWholeFile(_ bytes: [UInt8], to path: String) throws(ApusError) {
  try writeWholeFile(to: path) { $0 == 0 ? bytes : nil }
}

/// As ``writeWholeFile(_:to:)`` for bytes in pieces.
///
/// - Parameter piece: Returns a piece by its number, counted from 0; nil after the last. Where writing has to begin again, it is asked
///   again.
package func writeWholeFile(
  to path: String, piece: (Int) throws(ApusError) -> [UInt8]?
) throws(ApusError) {
  let target: String
  switch try destination(path) {
  case .descriptor(let number):
    // A copy, so that closing it reports what writing did not.
    let copy = dup(number)
    guard copy >= 0 else { throw unwritable(path) }
    var failure = writeAll(piece, to: copy, path)
    if close(copy) != 0, failure == nil { failure = unwritable(path) }
    if let failure { throw failure }
    return
  // A link stays a link: what it leads to is made or replaced.
  case .file(let real): target = real
  }
  var status = stat()
  let exists = unsafe stat(path, &status) == 0
  if exists, status.st_mode & S_IFMT != S_IFREG {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unwritable(path) }
    var failure = writeAll(piece, to: descriptor, path)
    if close(descriptor) != 0, failure == nil { failure = unwritable(path) }
    if let failure { throw failure }
    return
  }
  if exists { try refuseModel(path) }
  // A user who may not write to the file may not replace it.
  guard unsafe !exists || access(target, W_OK) == 0 else { throw unwritable(path) }
  // Without the file's own name, which may be as long as names can be.
  let partial = "\(parentFolder(of: target))/.apus-\(getpid())-\(UInt32.random(in: 0...(.max))).part"
  let mode = exists ? status.st_mode & 0o7777 : 0o666
  var failure: ApusError?
  // Why the system takes no file beside this one, or none in its place.
  var refusal: Int32 = 0
  let nameless = openNameless(beside: target, mode)
  if nameless >= 0 {
    failure = writeAll(piece, to: nameless, path)
    // A new file gets its name at once, unless another process is faster.
    let isInPlace = failure == nil && !exists && name(nameless, target)
    let isNamed = isInPlace || failure == nil && name(nameless, partial)
    if close(nameless) != 0, failure == nil { failure = unwritable(path) }
    if isInPlace {
      guard let failure else { return }
      unsafe unlink(target)
      throw failure
    }
    if failure == nil, !isNamed { failure = writeNamed(piece, to: partial, O_EXCL, mode, path, &refusal) }
  } else {
    failure = writeNamed(piece, to: partial, O_EXCL, mode, path, &refusal)
  }
  if failure == nil {
    guard unsafe rename(partial, target) != 0 else { return }
    refusal = errno
    failure = unwritable(path)
  }
  unsafe unlink(partial)
  if exists, [EACCES, EPERM, EROFS, EBUSY, EXDEV].contains(refusal) {
    // A failure to make the first piece does not empty the file.
    _ = try piece(0)
    failure = writeNamed(piece, to: target, O_TRUNC, mode, path, &refusal)
  }
  if let failure { throw failure }
}

/// Refuses a path at which no file can be created or replaced, before the work whose result it is for.
///
/// Writing may still fail later, such as on a full disk.
///
/// - Throws: `unwritableFile` with the system's reason, or `invalidArgument` for a model, which no result replaces.
package func checkWritable(_ path: String) throws(ApusError) {
  guard case .file(let target) = try destination(path) else {
    guard unsafe access(path, F_OK) == 0 else { throw unwritable(path) }
    return
  }
  let exists = unsafe access(path, F_OK) == 0
  guard unsafe access(exists ? path : parentFolder(of: target), W_OK) == 0 else { throw unwritable(path) }
  var status = stat()
  if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { try refuseModel(path) }
}

/// Refuses a regular file that is a .tflite model.
private func refuseModel(_ path: String) throws(ApusError) {
  guard let head = try? FileReader(path).next(8), head.dropFirst(4).elementsEqual("TFL3".utf8) else { return }
  throw ApusError(
    .invalidArgument, "'\(path)' is a .tflite model, which no result replaces: choose another place")
}

/// The folder that holds a path's file.
package func parentFolder(of path: String) -> String {
  path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
}

private typealias Pieces = (Int) throws(ApusError) -> [UInt8]?

/// A file without a name in the folder of another; negative where the system has none.
private func openNameless(beside path: String, _ mode: mode_t) -> Int32 {
  #if os(Linux)
    // O_TMPFILE, which Glibc's headers show with extensions only.
    let unnamed: Int32 = 0o20000000 | O_DIRECTORY
    return unsafe open(parentFolder(of: path), O_WRONLY | unnamed | O_CLOEXEC, mode)
  #else
    return -1
  #endif
}

/// Gives a file without a name one that does not exist yet.
private func name(_ descriptor: Int32, _ path: String) -> Bool {
  unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
}

/// Writes a file that does not exist yet (`O_EXCL`), or one that is emptied (`O_TRUNC`); says what went wrong.
private func writeNamed(
  _ piece: Pieces, to path: String, _ flag: Int32, _ mode: mode_t, _ asked: String, _ refusal: inout Int32
) -> ApusError? {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | flag | O_CLOEXEC, mode)
  guard descriptor >= 0 else {
    refusal = errno
    return unwritable(asked)
  }
  var failure = writeAll(piece, to: descriptor, asked)
  // Some file systems report a full disk only here.
  if close(descriptor) != 0, failure == nil { failure = unwritable(asked) }
  return failure
}

/// Writes everything; says what went wrong.
private func writeAll(_ piece: Pieces, to descriptor: Int32, _ path: String) -> ApusError? {
  do throws(ApusError) {
    var number = 0
    while let bytes = try piece(number) {
      number += 1
      var written = 0
      while written < bytes.count {
        let count = unsafe bytes[written...].withUnsafeBytes {
          unsafe write(descriptor, $0.baseAddress, $0.count)
        }
        if count >= 0 {
          written += count
        } else if errno != EINTR {
          throw unwritable(path)
        }
      }
    }
    return nil
  } catch {
    return error
  }
}

/// The file or descriptor to which a path leads.
private enum Destination {
  /// A descriptor that this process has.
  case descriptor(Int32)
  /// A file behind all links, which need not exist.
  case file(String)
}

/// Follows the links of a path by hand: the system's own way does not tell a file from a descriptor that is open
/// for it, such as `/dev/stdout`, and a new file in place of the one would lose what other processes write to it.
///
/// - Throws: `unwritableFile` for a link that cannot be followed.
private func destination(_ path: String) throws(ApusError) -> Destination {
  var place = path
  var linkCount = 0
  while true {
    let parts = place.split(separator: "/", omittingEmptySubsequences: false)
    // A path without a name in an existing folder is no place for a file: writing says why.
    guard let name = parts.last, !name.isEmpty, name != ".", name != "..",
      let parent = realPath(parentFolder(of: place))
    else {
      guard linkCount == 0 else { throw unresolved(path) }
      return .file(path)
    }
    if let number = Int32(name), let owner = descriptorOwner(parent) {
      if owner == getpid() { return .descriptor(number) }
      var status = stat()
      guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
        throw unresolved(path)
      }
      return .file(path)
    }
    guard let link = linkText(place) else { break }
    linkCount += 1
    guard linkCount <= 40 else { throw unresolved(path) }
    place = link.hasPrefix("/") ? link : "\(parentFolder(of: place))/\(link)"
  }
  // A link that does not lead where its text says is one of the system's own, such as to a deleted file.
  var asked = stat()
  var found = stat()
  if linkCount > 0, unsafe stat(path, &asked) == 0 {
    guard unsafe stat(place, &found) == 0, asked.st_dev == found.st_dev, asked.st_ino == found.st_ino
    else { throw unresolved(path) }
  }
  return .file(place)
}

/// The process whose descriptors a folder without links holds; nil for any other folder.
private func descriptorOwner(_ folder: String) -> pid_t? {
  if folder == "/dev/fd" { return getpid() }
  let parts = folder.split(separator: "/")
  guard parts.count == 3 || parts.count == 5 && parts[2] == "task", parts[0] == "proc", parts.last == "fd"
  else { return nil }
  return pid_t(parts[1])
}

/// The text of a link; nil for what is none.
private func linkText(_ path: String) -> String? {
  var bytes = [CChar](repeating: 0, count: 4097)
  let count = unsafe readlink(path, &bytes, bytes.count)
  guard count > 0, count < bytes.count else { return nil }
  return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The path of an existing folder behind all links.
private func realPath(_ path: String) -> String? {
  guard let real = unsafe realpath(path, nil) else { return nil }
  defer { unsafe free(real) }
  return unsafe String(cString: real)
}

private func unresolved(_ path: String) -> ApusError {
  ApusError(
    .unwritableFile,
    "cannot write the file '\(path)': where its link leads cannot be told; name the file itself")
}

private func unwritable(_ path: String) -> ApusError {
  ApusError(.unwritableFile, "cannot write the file '\(path)': \(systemReason(errno))")
}
