// SPDX-License-Identifier: Apache-2.0

/// Which kernel set took something, and why those that were asked before it did not.
package struct KernelChoice: Sendable {
  /// A set that was asked and declined.
  package struct Declined: Sendable {
    /// The set's name.
    package let set: String
    let decline: Decline

    /// What the set looked for, and what it found.
    package var reason: String { decline.description }
  }

  /// The name of the set whose kernel runs.
  package let set: String
  /// The sets that were asked before, in this order.
  package let declined: [Declined]
}

extension KernelChoice {
  /// A set that was asked first.
  package init(set: String) { self.init(set: set, declined: []) }

  /// Plain Swift, after `set` had nothing better.
  static func portable(instead set: KernelSet?, _ decline: Decline) -> KernelChoice {
    let declined = set.map {
      $0.name == KernelSet.portable.name ? [] : [Declined(set: $0.name, decline: decline)]
    }
    return KernelChoice(set: KernelSet.portable.name, declined: declined ?? [])
  }
}
