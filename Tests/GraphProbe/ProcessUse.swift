// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// This process's use of processor time and memory.
enum ProcessUse {
  /// The processor time of all threads. Unlike wall time, it hardly depends on what else the machine does.
  static var processorNanoseconds: Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
  }

  /// The bytes that are resident now; 0 if the system does not say.
  static var residentByteCount: Int { status("VmRSS:") }

  /// The maximum of resident bytes since the start, or since ``resetPeak()``; 0 if the system does not say.
  static var peakByteCount: Int { status("VmHWM:") }

  /// Lets the peak begin anew, if the system allows it.
  static func resetPeak() {
    let descriptor = unsafe open("/proc/self/clear_refs", O_WRONLY)
    guard descriptor >= 0 else { return }
    _ = unsafe write(descriptor, "5", 1)
    close(descriptor)
  }

  /// A field of `/proc/self/status`, which counts in units of 1,024 bytes.
  private static func status(_ field: String) -> Int {
    let descriptor = unsafe open("/proc/self/status", O_RDONLY)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    let lines = String(decoding: bytes[..<max(count, 0)], as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix(field) }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
  }
}
