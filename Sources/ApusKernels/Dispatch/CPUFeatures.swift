/// Optional instructions of a processor, as far as some kernel set asks for them.
package struct CPUFeatures: OptionSet, Hashable, Sendable {
  /// One bit for each feature.
  package let rawValue: UInt64

  /// Makes a set of its bits.
  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// What this machine has, of the features that any set in this build requires.
  package static let current: CPUFeatures = []
}
