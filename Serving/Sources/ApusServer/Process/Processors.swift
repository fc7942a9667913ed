// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// How many processors this process may use.
enum Processors {
  /// The minimum of the control group's limit and the size of the affinity mask (`taskset`, cpusets); at least 1.
  static var allowedCount: Int { max(1, min(System.coreCount, affinityCount ?? .max)) }

  /// The set bits of the mask in `/proc/self/status`, such as `Cpus_allowed:	ff,ffffffff`; `nil` where there is none.
  ///
  /// Swift's Glibc module lacks `sched_getaffinity`.
  private static var affinityCount: Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") })
    else { return nil }
    let mask = line.dropFirst("Cpus_allowed:".count)
    let count = mask.reduce(0) { $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount }
    return count > 0 ? count : nil
  }
}
