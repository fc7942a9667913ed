// SPDX-License-Identifier: Apache-2.0

/// Why a kernel set has no kernel for something, or why a faster way within it was passed over: what was looked for, and what
/// was found.
///
/// It is thrown where that is decided. The sentence is written when somebody reads it; most declines are read by nobody.
package struct Decline: Error, Sendable, CustomStringConvertible {
  private let sentence: @Sendable () -> String

  /// A decline for a reason such as `a stride of 2 is not 1`: a clause without capital or full stop.
  package init(_ sentence: @autoclosure @escaping @Sendable () -> String) {
    self.sentence = sentence
  }

  /// The reason.
  package var description: String { sentence() }

  /// The same of a part, which is named before it.
  func of(_ part: StaticString) -> Decline {
    let sentence = sentence
    return Decline("\(part): \(sentence())")
  }
}

extension Decline {
  /// Executable memory is refused or full.
  static let noCodeMemory = Decline(
    "its code cannot be placed: the system refuses executable pages, or \(ExecutableMemory.byteLimit >> 20) MiB are full"
  )
}

extension Decline {
  /// Throws unless a number is below a limit.
  static func require(_ number: Int, below limit: Int, _ name: StaticString) throws(Decline) {
    guard number < limit else { throw Decline("\(name), \(number), is not below \(limit)") }
  }
}
