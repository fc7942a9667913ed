// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// Whether this process may run code that it has written, and what the system says to each way.
package struct CodePermission: Sendable {
  /// Whether generated code runs.
  package let isAllowed: Bool
  /// Why it does not, or why only the second way works; nil if nothing is refused.
  package let reason: String?

  /// Asks the system, as the first kernel does.
  package static func ask() -> CodePermission {
    #if os(iOS)
      return CodePermission(isAllowed: false, reason: "iOS runs no code that is made at run time")
    #else
      let isAllowed = CPUFeatures.current.contains(.generatedCode)
      if ExecutableMemory.byteLimit == 0 {
        return CodePermission(isAllowed: false, reason: "the limit of generated code is 0 bytes")
      }
      var reasons: [String] = []
      if let refusal = ExecutableMemory.refusalOfPages() {
        reasons.append("written pages may not become executable (\(refusal))")
        reasons += restrictions()
      }
      if !isAllowed, reasons.isEmpty { reasons.append("this processor has no kernels of generated code") }
      let reason = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
      return CodePermission(
        isAllowed: isAllowed,
        reason: isAllowed ? reason.map { $0 + "; a memory file serves instead" } : reason)
    #endif
  }

  /// The restrictions of this process, as far as Linux reports them.
  private static func restrictions() -> [String] {
    #if os(Linux)
      var found: [String] = []
      // PR_GET_MDWE, which is in no header of older C libraries.
      let restriction = unsafe dlsym(nil, "prctl").map { symbol in
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        return unsafe unsafeBitCast(symbol, to: Control.self)(66, 0, 0, 0, 0)
      }
      if let restriction, restriction > 0, restriction & 1 == 1 {
        found.append("the process may not gain executable pages (PR_SET_MDWE)")
      }
      if unsafe access("/sys/fs/selinux/enforce", F_OK) == 0 {
        found.append("SELinux is present: it may lack the permission execmem")
      }
      return found
    #else
      return []
    #endif
  }
}

extension ExecutableMemory {
  /// The system's error for a page that is written and then made executable; nil if it allows that.
  fileprivate static func refusalOfPages() -> String? {
    let byteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    #if canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON | MAP_JIT
    #else
      let flags = MAP_PRIVATE | MAP_ANONYMOUS
    #endif
    guard let page = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0),
      unsafe page != MAP_FAILED
    else { return unsafe String(cString: strerror(errno)) }
    defer { unsafe munmap(page, byteCount) }
    unsafe page.storeBytes(of: 0xC3, as: UInt8.self)
    guard unsafe mprotect(page, byteCount, PROT_READ | PROT_EXEC) != 0 else { return nil }
    return unsafe String(cString: strerror(errno))
  }
}
