// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
  import Apus
  import ApusSystem
  import ApusVision

  /// An open device of Video4Linux.
  package final class V4L2Handle: Sendable {
    private let descriptor: Int32

    /// Opens a device, without waiting for it.
    ///
    /// - Throws: `unreadableFile` with what to do.
    package init(_ path: String) throws(ApusError) {
      descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else {
        let reason = errno
        let advice =
          switch reason {
          case EACCES: "; the group 'video' may: usermod -aG video USER, then log in again"
          case EBUSY: FileUsers.of(path).map { "; it is used by \($0)" } ?? ""
          default: ""
          }
        throw ApusError(.unreadableFile, "cannot open '\(path)': \(systemReason(reason))\(advice)")
      }
    }

    deinit { close(descriptor) }

    /// Gives the driver a structure, which it fills; the number of bytes is part of the request.
    ///
    /// - Returns: 0, or the error's number.
    package func ask(_ request: UInt, _ structure: inout [UInt8]) -> Int32 {
      // Bits 16 to 29 of a request are the size of its structure, which the kernel copies.
      guard structure.count >= Int(request >> 16 & 0x3FFF) else { return EINVAL }
      while true {
        let result = unsafe structure.withUnsafeMutableBytes { bytes in
          guard let start = bytes.baseAddress else { return Int32(-1) }
          return unsafe ioctl(descriptor, request, start)
        }
        if result >= 0 { return 0 }
        if errno != EINTR { return errno }
      }
    }
  }
#endif
