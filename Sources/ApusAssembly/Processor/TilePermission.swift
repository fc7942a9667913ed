// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The system's permission to use tile registers (``CPUFeatures/tiles``).
///
/// Linux saves their 8 KiB for a process only after it has asked, once for all of its threads. From then on, signal stacks must
/// have room for them: `sigaltstack` refuses smaller ones. So this is asked only when a kernel needs tiles.
package enum TilePermission {
  /// Throws unless the system allows tile registers.
  package static func require() throws(Decline) {
    if let refusal { throw refusal }
  }

  private static let refusal: Decline? = {
    guard CPUFeatures.current.contains(.tiles) else { return Decline("the machine has no tile registers") }
    #if os(Linux) && arch(x86_64)
      // Looked up by name: the function has a variable number of arguments, which Swift does not call.
      typealias SystemCall = @convention(c) (Int, Int, Int) -> Int
      guard let symbol = unsafe dlsym(nil, "syscall") else { return Decline("the C library has no syscall") }
      // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
      guard unsafe unsafeBitCast(symbol, to: SystemCall.self)(158, 0x1023, 18) == 0 else {
        return Decline("the system refuses tile registers")
      }
      return nil
    #else
      return Decline("only Linux is known to save tile registers")
    #endif
  }()
}
