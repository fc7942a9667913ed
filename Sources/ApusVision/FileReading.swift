// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem

/// The bytes of a whole file.
///
/// - Parameters:
///   - path: The file; pipes are read to their end as well.
///   - limit: The maximum number of bytes; a longer file is refused after that many.
/// - Throws: `unreadableFile` with the system's reason, or `resourceLimit`.
package func readWholeFile(at path: String, limit: Int) throws(ApusError) -> [UInt8] {
  var bytes: [UInt8] = []
  try readFile(
    at: path, limit: limit, begin: { count throws(ApusError) in try reserve(count, in: &bytes, path) },
    body: { piece throws(ApusError) in
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
///   - path: The file; pipes are read to their end as well.
///   - limit: The maximum number of bytes; a longer file is refused after that many.
///   - begin: Is called with the number of bytes to come, where that is known.
///   - body: Is called with each piece, in order.
/// - Throws: `unreadableFile` with the system's reason, or `resourceLimit`.
func readFile(
  at path: String, limit: Int, begin: (Int) throws(ApusError) -> Void = { _ in },
  body: (ArraySlice<UInt8>) throws(ApusError) -> Void
) throws(ApusError) {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw unreadable(path) }
  defer { _ = close(descriptor) }
  var status = stat()
  if unsafe fstat(descriptor, &status) == 0, status.st_size > 0 { try begin(min(Int(status.st_size), limit)) }
  var chunk = [UInt8](repeating: 0, count: 1 << 18)
  var total = 0
  while true {
    let count = unsafe read(descriptor, &chunk, chunk.count)
    if count == 0 { return }
    guard count > 0 else {
      if errno == EINTR { continue }
      throw unreadable(path)
    }
    total += count
    guard total <= limit else {
      throw ApusError(.resourceLimit, "the file '\(path)' is longer than \(limit) bytes")
    }
    try body(chunk[..<count])
  }
}

/// Makes room for so many bytes in all.
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
