// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusAssembly
import ApusSystem
import ApusVision
import FoundationEssentials

/// The processor, the memory and the system, as far as the system says.
package struct MachineFacts: Encodable, Sendable {
  /// A cache of the first processor.
  package struct Cache: Encodable, Sendable {
    /// Its level, from 1.
    package let level: Int
    /// The kind of its contents: `Data`, `Instruction` or `Unified`.
    package let kind: String
    /// Its size in KiB.
    package let kilobytes: Int
  }

  /// The distribution and the kernel.
  package let system: String
  /// The instruction set: `x86_64` or `arm64`.
  package let architecture: String
  /// The processor's name.
  package let processor: String
  /// The processors that this process may use.
  package let processors: Int
  /// The share of processors that a container may use; nil without a limit.
  package let processorLimit: Double?
  /// The optional instructions that kernels use.
  package let features: [String]
  /// The caches of the first processor.
  package let caches: [Cache]
  /// The memory in MiB; nil if the system does not say.
  package let memoryMegabytes: Int?
  /// The memory that is available in MiB; nil if the system does not say.
  package let availableMegabytes: Int?
  /// The memory that a container may use in MiB; nil without a limit.
  package let memoryLimitMegabytes: Int?

  /// Asks the system.
  package init() {
    system = Self.systemName()
    #if arch(x86_64)
      architecture = "x86_64"
    #elseif arch(arm64)
      architecture = "arm64"
    #else
      architecture = "another one"
    #endif
    let description = Self.fields("/proc/cpuinfo")
    processor =
      description["model name"] ?? description["Model"] ?? description["CPU part"].map { "part \($0)" }
      ?? "unknown"
    processors = ProcessInfo.processInfo.activeProcessorCount
    features = CPUFeatures.current.names
    caches = Self.cachesOfFirstProcessor()
    let memory = Self.fields("/proc/meminfo")
    memoryMegabytes = memory["MemTotal"].flatMap(Self.leadingNumber).map { $0 >> 10 }
    availableMegabytes = memory["MemAvailable"].flatMap(Self.leadingNumber).map { $0 >> 10 }
    memoryLimitMegabytes = Self.text("/sys/fs/cgroup/memory.max").flatMap { Int($0) }.map { $0 >> 20 }
    let share = (Self.text("/sys/fs/cgroup/cpu.max") ?? "").split(separator: " ").compactMap { Double($0) }
    processorLimit = share.count == 2 && share[1] > 0 ? share[0] / share[1] : nil
  }

  private static func systemName() -> String {
    #if os(Linux)
      let release = (text("/etc/os-release") ?? "").split(separator: "\n")
        .first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst(12).filter { $0 != "\"" }
      return (release.map { String($0) } ?? "Linux") + ", Linux "
        + (text("/proc/sys/kernel/osrelease") ?? "of an unknown version")
    #else
      return ProcessInfo.processInfo.operatingSystemVersionString
    #endif
  }

  private static func cachesOfFirstProcessor() -> [Cache] {
    (0..<16).compactMap { index in
      let folder = "/sys/devices/system/cpu/cpu0/cache/index\(index)"
      guard let level = text("\(folder)/level").flatMap({ Int($0) }),
        let kind = text("\(folder)/type"), let size = text("\(folder)/size"),
        let count = leadingNumber(size)
      else { return nil }
      return Cache(level: level, kind: kind, kilobytes: size.hasSuffix("M") ? count << 10 : count)
    }
  }

  /// The number with which a text begins.
  private static func leadingNumber(_ text: String) -> Int? { Int(text.prefix { $0.isNumber }) }

  /// The lines `name: value` of a file, the first of each name.
  private static func fields(_ path: String) -> [String: String] {
    var fields: [String: String] = [:]
    for line in (text(path) ?? "").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1).map { trimmed($0) }
      if parts.count == 2, fields[parts[0]] == nil { fields[parts[0]] = parts[1] }
    }
    return fields
  }

  /// A file's text without blanks around it; nil if it cannot be read.
  private static func text(_ path: String) -> String? {
    guard let bytes = try? readWholeFile(at: path, limit: 1 << 22) else { return nil }
    return trimmed(String(decoding: bytes, as: UTF8.self)[...])
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0.isWhitespace }
    return String(start.reversed().drop { $0.isWhitespace }.reversed())
  }
}
