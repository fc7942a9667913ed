// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import Synchronization

/// A test of the processor's sums, done once. A test that cannot be done, since there is no memory for its code, is tried again.
final class ProcessorCheck: Sendable {
  private let result = Mutex<Bool?>(nil)

  /// Throws unless the sums of an instruction are those that ``BFloat16Sum`` defines.
  func require(_ instruction: StaticString, _ test: () throws(Decline) -> Bool) throws(Decline) {
    let holds = try result.withLock { result throws(Decline) in
      if let result { return result }
      let found = try test()
      result = found
      return found
    }
    guard holds else {
      throw Decline("\(instruction): this processor's sums differ from the ones that are defined")
    }
  }
}
