// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Creates or replaces a file.
///
/// - Throws: `unwritableFile` with the system's reason.
package func writeWholeFile(_ bytes: [UInt8], to path: String) throws(ApusError) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
  guard descriptor >= 0 else { throw unwritable(path) }
  var failure: ApusError?
  var written = 0
  while written < bytes.count, failure == nil {
    let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      written += count
    } else if errno != EINTR {
      failure = unwritable(path)
    }
  }
  // Some file systems report a full disk only here.
  if close(descriptor) != 0, failure == nil { failure = unwritable(path) }
  if let failure { throw failure }
}

private func unwritable(_ path: String) -> ApusError {
  ApusError(.unwritableFile, "cannot write the file '\(path)': \(systemReason(errno))")
}
