// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The kernel set that was chosen for a description, and why earlier ones declined.
package struct KernelChoice: Sendable {
  /// A set that declined.
  package struct Declined: Sendable {
    /// The set's name.
    package let set: String
    /// Why it declined.
    package let decline: Decline

    /// The reason: the condition, and what was found.
    package var reason: String { decline.description }

    /// A set and its reason.
    package init(set: String, decline: Decline) {
      self.set = set
      self.decline = decline
    }
  }

  /// The name of the set whose kernel runs.
  package let set: String
  /// The sets that declined before, in order.
  package let declined: [Declined]

  /// The choice of a set after others declined.
  package init(set: String, declined: [Declined]) {
    self.set = set
    self.declined = declined
  }
}

extension KernelChoice {
  /// A choice without declines.
  package init(set: String) { self.init(set: set, declined: []) }

  /// Plain Swift, because `set` declined.
  static func portable(instead set: KernelSet?, _ decline: Decline) -> KernelChoice {
    let declined = set.map {
      $0.name == KernelSet.portable.name ? [] : [Declined(set: $0.name, decline: decline)]
    }
    return KernelChoice(set: KernelSet.portable.name, declined: declined ?? [])
  }
}

extension KernelSet {
  /// A kernel, and why it was chosen.
  package typealias Chosen<Kernel> = (kernel: Kernel, choice: KernelChoice)
}
