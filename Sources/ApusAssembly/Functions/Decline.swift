// SPDX-License-Identifier: Apache-2.0

/// Why a kernel set has no kernel for a description, or why a faster strategy within it declined: the
/// condition, and what was found.
///
/// The sentence is composed only when it is read, because most are never read.
package struct Decline: Error, Sendable, CustomStringConvertible {
  private let sentence: @Sendable () -> String

  /// A decline for a reason such as `a stride of 2 is not 1`: a clause without capital or full stop.
  package init(_ sentence: @autoclosure @escaping @Sendable () -> String) {
    self.sentence = sentence
  }

  /// The reason.
  package var description: String { sentence() }

  /// This reason with the name of a part before it.
  package func of(_ part: StaticString) -> Decline {
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
  /// Throws if a number is above a limit.
  package static func require(_ number: Int, atMost limit: Int, _ name: StaticString) throws(Decline) {
    guard number <= limit else { throw Decline("\(name), \(number), is above \(limit)") }
  }

  /// Throws unless a number is below a limit.
  package static func require(_ number: Int, below limit: Int, _ name: StaticString) throws(Decline) {
    guard number < limit else { throw Decline("\(name), \(number), is not below \(limit)") }
  }
}
