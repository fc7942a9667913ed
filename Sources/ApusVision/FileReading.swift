// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem

/// The bytes of a whole file.
///
/// - Parameters:
///   - path: The file; pipes that are open already, such as `/dev/stdin`, are read to their end as well.
///   - limit: The maximum number of bytes; a longer file is refused after that many.
///   - check: Is called with the file's beginning, or all of a small one, before more is read; what it throws ends the reading.
/// - Throws: `unreadableFile` with the system's reason, or `resourceLimit`.
package func readWholeFile(
  at path: String, limit: Int, check: ([UInt8]) throws(ApusError) -> Void = { _ in }
) throws(ApusError) -> [UInt8] {
  var bytes: [UInt8] = []
  try readFile(
    at: path, limit: limit, begin: { count throws(ApusError) in try reserve(count, in: &bytes, path) },
    body: { piece throws(ApusError) in
      if bytes.isEmpty { try check(Array(piece)) }
      if bytes.capacity - bytes.count < piece.count {
        try reserve(min(2 * (bytes.count + piece.count), limit), in: &bytes, path)
      }
      bytes.append(contentsOf: piece)
    })
  return bytes
}

/// Reads a file piece by piece.
///
/// - Parameters:
///   - path: The file; pipes that are open already, such as `/dev/stdin`, are read to their end as well.
///   - limit: The maximum number of bytes; a longer file is refused after that many.
///   - begin: Is called with the number of bytes to come, where that is known.
///   - body: Is called with each piece, in order.
/// - Throws: `unreadableFile` with the system's reason, or `resourceLimit`.
func readFile(
  at path: String, limit: Int, begin: (Int) throws(ApusError) -> Void = { _ in },
  body: (ArraySlice<UInt8>) throws(ApusError) -> Void
) throws(ApusError) {
  let file = try FileReader(path)
  if let count = file.byteCount, count > 0 { try begin(min(count, limit)) }
  var chunk = [UInt8](repeating: 0, count: 1 << 18)
  var total = 0
  while true {
    let count = try file.fill(&chunk)
    if count == 0 { return }
    total += count
    guard total <= limit else {
      throw ApusError(.resourceLimit, "the file '\(path)' is longer than \(limit) bytes")
    }
    try body(chunk[..<count])
  }
}

/// An open file, read from its beginning to its end.
///
/// A named pipe without a writer, or a device, would wait for ever: both are refused. Pipes and devices that the process has open already
/// are read, because they were chosen when it was started: `/dev/stdin`, and `/dev/fd/63` as shells name the output of a command in `<(…)`.
package final class FileReader {
  private let path: String
  private let descriptor: Int32
  /// Whether the descriptor was opened here.
  private let isOwner: Bool
  /// The number of bytes of a regular file; nil for others.
  package let byteCount: Int?

  /// Opens a file.
  ///
  /// - Throws: `unreadableFile` with the system's reason, or for a pipe or device that the process does not have open already.
  package init(_ path: String) throws(ApusError) {
    self.path = path
    isOwner = true
    var status = stat()
    if let open = Self.openDescriptor(path), unsafe fstat(open, &status) == 0,
      status.st_mode & S_IFMT != S_IFREG
    {
      // Opening it again would wait for another writer.
      descriptor = fcntl(open, F_DUPFD_CLOEXEC, 0)
      guard descriptor >= 0 else { throw unreadable(path) }
      byteCount = nil
      return
    }
    // Opening some devices does something, so they are not opened to learn what they are.
    if unsafe stat(path, &status) == 0 { try Self.refuseSpecial(status, path) }
    // Opening a pipe would otherwise wait for a writer, if one took the file's place.
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw unreadable(path) }
    let isKnown = unsafe fstat(descriptor, &status) == 0
    do throws(ApusError) { if isKnown { try Self.refuseSpecial(status, path) } } catch {
      _ = close(descriptor)
      throw error
    }
    byteCount = isKnown && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
  }

  /// The descriptor that a path such as `/dev/fd/3` names; nil for other paths.
  private static func openDescriptor(_ path: String) -> Int32? {
    if path == "/dev/stdin" { return 0 }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count))
    }
    return nil
  }

  /// Refuses what is neither a file nor a folder: reading a folder fails with the system's reason.
  private static func refuseSpecial(_ status: stat, _ path: String) throws(ApusError) {
    let kind = status.st_mode & S_IFMT
    guard kind != S_IFREG, kind != S_IFDIR else { return }
    let name =
      switch kind {
      case S_IFIFO: "a named pipe"
      case S_IFSOCK: "a socket"
      default: "a device"
      }
    throw ApusError(
      .unreadableFile,
      "cannot read the file '\(path)': it is \(name), not a regular file"
        + (kind == S_IFIFO ? "; '/dev/stdin < \(path)' reads it, and waits for its writer" : ""))
  }

  deinit {
    if isOwner { _ = close(descriptor) }
  }

  /// A reader of standard input.
  package static var standardInput: FileReader { FileReader(descriptor: 0, "standard input") }

  private init(descriptor: Int32, _ name: String) {
    (path, self.descriptor, isOwner, byteCount) = (name, descriptor, false, nil)
  }

  /// The next bytes, as many as requested; fewer only at the end.
  package func next(_ count: Int) throws(ApusError) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: count)
    let filled = try fill(&chunk)
    chunk.removeLast(count - filled)
    return chunk
  }

  /// Reads as many bytes as the chunk has room for, and returns how many there were: fewer only at the end.
  fileprivate func fill(_ chunk: inout [UInt8]) throws(ApusError) -> Int {
    var filled = 0
    while filled < chunk.count {
      let count = unsafe chunk.withUnsafeMutableBytes { target in
        unsafe read(descriptor, target.baseAddress.map { unsafe $0 + filled }, target.count - filled)
      }
      if count == 0 { break }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw unreadable(path)
      }
      filled += count
    }
    return filled
  }
}

/// The number of bytes of a regular file, without opening it; nil for pipes and devices.
///
/// - Throws: `unreadableFile` with the system's reason.
package func regularFileSize(at path: String) throws(ApusError) -> Int? {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { throw unreadable(path) }
  return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
}

/// When a file was changed last, in nanoseconds since 1970; nil if the system does not say.
package func modificationTime(at path: String) -> Int? {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { return nil }
  #if canImport(Darwin)
    let time = status.st_mtimespec
  #else
    let time = status.st_mtim
  #endif
  return Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
}

/// Reserves capacity for `byteCount` bytes in total.
private func reserve(_ byteCount: Int, in bytes: inout [UInt8], _ path: String) throws(ApusError) {
  try requireMemory(byteCount, for: "the file '\(path)'")
  bytes.reserveCapacity(byteCount)
}

private func unreadable(_ path: String) -> ApusError {
  ApusError(.unreadableFile, "cannot read the file '\(path)': \(systemReason(errno))")
}

/// The system's description of an error number.
package func systemReason(_ number: Int32) -> String {
  var text = [CChar](repeating: 0, count: 256)
  guard unsafe strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
  return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
