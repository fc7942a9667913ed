// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How much memory of this process is resident, in bytes.
enum ResidentMemory {
  /// The present number of bytes; the peak, if the system does not report it.
  static var current: Int { status("VmRSS:") ?? peakByUsage }

  /// The maximum since the start, or since ``resetPeak()``.
  ///
  /// Avoids `ruMaxrss` if possible: on Linux it also counts the parent's memory before `exec`.
  static var peak: Int { status("VmHWM:") ?? peakByUsage }

  /// Resets the peak, if the system allows it.
  static func resetPeak() {
    let descriptor = unsafe open("/proc/self/clear_refs", O_WRONLY)
    guard descriptor >= 0 else { return }
    _ = unsafe write(descriptor, "5", 1)
    close(descriptor)
  }

  /// A field of `/proc/self/status`, which counts in units of 1,024 bytes.
  private static func status(_ field: String) -> Int? {
    let descriptor = unsafe open("/proc/self/status", O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { return nil }
    let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix(field) }) else { return nil }
    return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }

  private static var peakByUsage: Int {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #else
      unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      return usage.ru_maxrss << 10
    #endif
  }
}
