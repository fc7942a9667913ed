// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The facts about a machine that decide how generated code cuts its work.
///
/// A cache's size decides where tiles end, never the order of a sum: results are the same with every size. The shares of the cache
/// were chosen on a processor with 2 MiB; [Kernels](../../../Docs/Kernels.md#tuned-numbers) says what other sizes cost there.
package struct MachineModel: Hashable, Sendable {
  /// The vector units.
  package var pipes: VectorPipes
  /// The size of a core's second-level cache, in bytes.
  package var secondLevelCache: Int

  /// Describes a machine.
  package init(pipes: VectorPipes, secondLevelCache: Int = Self.foundSecondLevelCache) {
    self.pipes = pipes
    self.secondLevelCache = secondLevelCache
  }

  // MARK: Shares of the second-level cache

  /// The pixels that a tile of pixels gathers: they are read again for every panel of weights.
  var pixelPlane: Int { secondLevelCache / 64 * 3 }
  /// The rows that a tile of lines gathers. Its filter reads each row several times.
  var linePlane: Int { secondLevelCache / 64 * 5 }
  /// The rows that a depthwise tile gathers.
  var depthwisePlane: Int { secondLevelCache / 16 }
  /// The most pixels of a tile whose weights come from beyond this cache, so that they are read once.
  var nearPlane: Int { secondLevelCache / 8 * 3 }
  /// The rows of a tile for a dilated filter, which would otherwise gather most rows again for each line.
  var dilatedPlane: Int { secondLevelCache / 2 }

  // MARK: This machine

  /// The second-level cache of this machine, or what `APUS_SECOND_LEVEL_CACHE` says in bytes; 2 MiB if neither is known.
  ///
  /// Virtual machines may report anything, so the size is at least 256 KiB and at most 4 MiB.
  package static let foundSecondLevelCache: Int = {
    let named = unsafe getenv("APUS_SECOND_LEVEL_CACHE").flatMap { unsafe Int(String(cString: $0)) }
    return min(max(named ?? reportedSecondLevelCache ?? 2 << 20, 256 << 10), 4 << 20)
  }()

  /// The bytes that the system reports; nil if it reports nothing.
  private static var reportedSecondLevelCache: Int? {
    #if canImport(Darwin)
      var size = 0
      var length = MemoryLayout<Int>.size
      return unsafe sysctlbyname("hw.perflevel0.l2cachesize", &size, &length, nil, 0) == 0 ? size : nil
    #elseif canImport(Glibc)
      let size = sysconf(Int32(_SC_LEVEL2_CACHE_SIZE))
      return size > 0 ? size : nil
    #else
      return nil
    #endif
  }
}
