// SPDX-License-Identifier: Apache-2.0

/// A file of the appended archive, with its purpose.
package struct AssociatedFile: Hashable, Sendable {
  /// The purpose of a file.
  package enum Kind: Int8, Hashable, Sendable {
    /// Not given, or unknown to this build.
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
  /// A description for people.
  package let description: String
  /// The purpose.
  package let type: Kind
  /// The language of its text, such as `en` or `en-US`; often empty.
  package let locale: String
  /// The file's version; often empty.
  package let version: String
}
