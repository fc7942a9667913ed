// SPDX-License-Identifier: Apache-2.0

/// A file of the appended archive and what it is for.
package struct AssociatedFile: Hashable, Sendable {
  /// What a file is for.
  package enum Kind: Int8, Hashable, Sendable {
    /// Not said, or unknown to this build.
    case unknown = 0
    /// Text for people.
    case descriptions = 1
    /// One label for each index of an axis, in lines.
    case tensorAxisLabels = 2
    /// One label for each value of the tensor, in lines.
    case tensorValueLabels = 3
    /// Parameters of score calibration, as comma-separated values.
    case tensorAxisScoreCalibration = 4
    /// Words, in lines.
    case vocabulary = 5
    /// An index for nearest-neighbor search.
    case scannIndexFile = 6
  }

  /// The path in the archive.
  package let name: String
  /// What people should know about it.
  package let description: String
  /// What it is for.
  package let type: Kind
  /// The language of its text, as `en` or `en-US`; often empty.
  package let locale: String
  /// The file's version; often empty.
  package let version: String
}
