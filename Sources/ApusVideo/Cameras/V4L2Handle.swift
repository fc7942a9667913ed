// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
  import Apus
  import ApusSystem
  import ApusVision
  import Synchronization

  /// An open device of Video4Linux, with those of its buffers that are mapped into memory.
  package final class V4L2Handle: V4L2Driver {
    private let descriptor: Int32
    /// Addresses and lengths of mapped buffers; unmapped at the end.
    private let buffers = Mutex<[(address: UInt, byteCount: Int)]>([])

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

    deinit {
      for (address, byteCount) in buffers.withLock(\.self) {
        unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount)
      }
      close(descriptor)
    }

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

    package func map(offset: Int, byteCount: Int) -> Int32 {
      let memory = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, off_t(offset))
      let address = UInt(bitPattern: memory)
      // MAP_FAILED.
      guard address != 0, address != UInt.max else { return errno }
      buffers.withLock { $0.append((address, byteCount)) }
      return 0
    }

    package func bytes(ofBuffer index: Int, count: Int) -> [UInt8] {
      buffers.withLock { buffers in
        guard buffers.indices.contains(index), count >= 0, count <= buffers[index].byteCount else {
          return []
        }
        let start = unsafe UnsafeRawPointer(bitPattern: buffers[index].address)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
      }
    }

    package func wait(milliseconds: Int32) -> Bool {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&entry, 1, milliseconds) > 0
    }
  }
#endif
