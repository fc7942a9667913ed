// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem
import ApusVision

/// Creates or replaces a file. If that fails, an existing file stays as it was.
///
/// A regular file is written under a temporary name, or none if the system supports that, and then moved to
/// its place, so that no reader ever sees a part of it. A process that is killed leaves nothing behind if
/// files without names are supported; except at the moment in which it replaces another file, when the new
/// one may be left beside it, complete. Pipes and devices are written to directly.
///
/// - Throws: `unwritableFile` with the system's reason.
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
  // A link stays a link: what it leads to is replaced.
  let target = exists ? resolved(path) : path
  // A user who may not write to the file may not replace it.
  guard unsafe !exists || access(target, W_OK) == 0 else { throw unwritable(path) }
  let partial = "\(target).\(getpid())-\(UInt32.random(in: 0...(.max))).part"
  let mode = exists ? status.st_mode & 0o7777 : 0o666
  var failure: ApusError?
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
    if failure == nil, !isNamed { failure = writeNamed(piece, to: partial, mode, path) }
  } else {
    failure = writeNamed(piece, to: partial, mode, path)
  }
  if failure == nil, unsafe rename(partial, target) != 0 { failure = unwritable(path) }
  if let failure {
    unsafe unlink(partial)
    throw failure
  }
}

/// Refuses a path at which no file can be created or replaced, before the work whose result it is for.
///
/// Writing may still fail later, such as on a full disk.
///
/// - Throws: `unwritableFile` with the system's reason.
package func checkWritable(_ path: String) throws(ApusError) {
  let exists = unsafe access(path, F_OK) == 0
  guard unsafe access(exists ? path : folder(of: path), W_OK) == 0 else { throw unwritable(path) }
}

/// The folder that holds a path's file.
private func folder(of path: String) -> String {
  path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
}

private typealias Pieces = (Int) throws(ApusError) -> [UInt8]?

/// A file without a name in the folder of another; negative where the system has none.
private func openNameless(beside path: String, _ mode: mode_t) -> Int32 {
  #if os(Linux)
    // O_TMPFILE, which Glibc's headers show with extensions only.
    let unnamed: Int32 = 0o20000000 | O_DIRECTORY
    return unsafe open(folder(of: path), O_WRONLY | unnamed | O_CLOEXEC, mode)
  #else
    return -1
  #endif
}

/// Gives a file without a name one that does not exist yet.
private func name(_ descriptor: Int32, _ path: String) -> Bool {
  unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
}

/// Writes a file that does not exist yet; says what went wrong.
private func writeNamed(_ piece: Pieces, to path: String, _ mode: mode_t, _ asked: String) -> ApusError? {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
  guard descriptor >= 0 else { return unwritable(asked) }
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

/// What a path leads to.
private func resolved(_ path: String) -> String {
  guard let real = unsafe realpath(path, nil) else { return path }
  defer { unsafe free(real) }
  return unsafe String(cString: real)
}

private func unwritable(_ path: String) -> ApusError {
  ApusError(.unwritableFile, "cannot write the file '\(path)': \(systemReason(errno))")
}
