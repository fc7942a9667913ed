// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Frames over standard input and output: the length in four bytes, little-endian, then the bytes.
struct Pipe {
  /// The next frame; nil at the end.
  func receive() -> [UInt8]? {
    guard let header = bytes(4) else { return nil }
    return bytes(header.reversed().reduce(0) { $0 << 8 | Int($1) })
  }

  func send(_ frame: [UInt8]) {
    var message = FrameWriter()
    message.add(UInt32(frame.count))
    write(message.bytes)
    write(frame)
  }

  private func bytes(_ count: Int) -> [UInt8]? {
    var filled = 0
    var isAtEnd = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while filled < count {
        let got = unsafe read(0, buffer.baseAddress! + filled, count - filled)
        if got <= 0 {
          isAtEnd = true
          break
        }
        filled += got
      }
      initialized = filled
    }
    return isAtEnd ? nil : bytes
  }

  private func write(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        #if canImport(Glibc)
          let count = unsafe Glibc.write(1, buffer.baseAddress! + written, buffer.count - written)
        #else
          let count = Darwin.write(1, buffer.baseAddress! + written, buffer.count - written)
        #endif
        // The reader has closed the pipe.
        if count <= 0 { exit(0) }
        written += count
      }
    }
  }
}
