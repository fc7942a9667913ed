// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusRuntime

/// Asks the system for memory before an array takes as much, as an array that is refused it ends the process.
///
/// Other threads may take it in between. Small amounts are not asked for.
///
/// - Throws: `resourceLimit` where the system refuses.
package func requireMemory(_ byteCount: Int, for what: @autoclosure () -> String) throws(ApusError) {
  guard byteCount >= 1 << 22 else { return }
  guard ZeroedMemory(ifAvailable: byteCount, isReserved: true) != nil else {
    throw ApusError(.resourceLimit, "the system refuses \(byteCount) bytes of memory for \(what())")
  }
}
