// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusSystem
import Synchronization

/// The kernel sets that were compared with plain Swift in this process.
///
/// A set is compared once, before its first use, if that is required. A set that differs is not used.
package enum KernelProofs {
  /// The use of a set; its code for one may be right where that for the other is wrong.
  package enum Use: Sendable {
    case models, pictures
  }

  /// Whether sets must be compared before they are used; at first as the environment's `APUS_PROVE` says.
  package static var areRequired: Bool {
    get { requirement.load(ordering: .relaxed) }
    set { requirement.store(newValue, ordering: .relaxed) }
  }

  private static let requirement = Atomic(isRequiredByEnvironment)

  private static var isRequiredByEnvironment: Bool {
    guard let value = unsafe getenv("APUS_PROVE") else { return false }
    return unsafe !["", "0"].contains(String(cString: value))
  }

  private typealias Outcome = (set: KernelSet, use: Use, difference: String?)

  /// The outcomes: each set with its use and with what is wrong with it, if anything.
  private static let outcomes = Mutex<[Outcome]>([])

  private static func outcome(of set: KernelSet, for use: Use) -> Outcome? {
    outcomes.withLock { known in known.first { $0.set === set && $0.use == use } }
  }

  /// Why a set must not be used: where it differs from plain Swift. Nil if it does not, or no proof is required.
  ///
  /// - Parameter find: finds where a set that was not compared yet differs.
  package static func objection(
    to set: KernelSet, for use: Use = .models, _ find: (KernelSet) -> String? = { difference(of: $0) }
  ) -> Decline? {
    guard areRequired, set !== KernelSet.portable else { return nil }
    if let known = outcome(of: set, for: use) { return known.difference.map(decline) }
    let difference = find(set)
    outcomes.withLock { known in
      if !known.contains(where: { $0.set === set && $0.use == use }) { known.append((set, use, difference)) }
    }
    return difference.map(decline)
  }

  /// Why a set that was compared must not be used; nil also for a set that was not compared.
  package static func knownObjection(to set: KernelSet) -> Decline? {
    outcome(of: set, for: .models)?.difference.map(decline)
  }

  /// The first set that may be used, and those before it that may not. A set whose library is missing is left out.
  package static func choose(
    among sets: [KernelSet]
  ) -> (set: KernelSet, declined: [KernelChoice.Declined]) {
    var declined: [KernelChoice.Declined] = []
    for set in sets where set.convolutions.missing() == nil {
      guard let objection = objection(to: set) else { return (set, declined) }
      declined.append(.init(set: set.name, decline: objection))
    }
    return (.portable, declined)
  }

  /// Where a set first differs from plain Swift; nil if no trial finds a difference.
  package static func difference(of set: KernelSet) -> String? {
    for trial in KernelTrial.all {
      if let difference = trial.difference(of: set) { return difference }
    }
    return nil
  }

  private static func decline(_ difference: String) -> Decline {
    Decline("the set's results are wrong on this processor: \(difference)")
  }
}
