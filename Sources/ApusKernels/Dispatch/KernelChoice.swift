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
  /// Why the kernel does not compute what was asked for first, such as a product in another precision.
  package var notes: [String] = []

  /// The choice of a set after others declined.
  package init(set: String, declined: [Declined] = []) {
    self.set = set
    self.declined = declined
  }
}

extension KernelChoice {
  /// Plain Swift, to which no set has an alternative.
  package static let plain = KernelChoice(set: KernelSet.portable.name)

  /// Why the described loop is not faster: the reason of each set that declined.
  package func notes(on loopDescription: String) -> [String] {
    declined.map { "\(loopDescription), as \($0.set) declined: \($0.reason)" }
  }
}

extension KernelSet {
  /// A kernel, and why it was chosen.
  package typealias Chosen<Kernel> = (kernel: Kernel, choice: KernelChoice)

  /// The kernel that this set prepares, or plain Swift if the set declines, and why.
  ///
  /// Other sets are not asked: for what is chosen in this way, they decline for the same reasons.
  package func choose<Kernel>(
    otherwise portable: @autoclosure () -> Kernel, _ prepare: (KernelSet) throws(Decline) -> Kernel
  ) -> Chosen<Kernel> {
    do throws(Decline) {
      return (try prepare(self), KernelChoice(set: name))
    } catch {
      let name = Self.portable.name
      let declined = self.name == name ? [] : [KernelChoice.Declined(set: self.name, decline: error)]
      return (portable(), KernelChoice(set: name, declined: declined))
    }
  }
}
