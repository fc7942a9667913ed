// SPDX-License-Identifier: Apache-2.0

/// The size, place and modification time that identify the version of a file and its mask.
struct EvaluationFileState: Equatable, Sendable {
  /// The bytes of the file and of its mask; those of files that are missing count as none.
  let bytes: Int
  /// Where they are and when they were changed last: a number that differs if one of them was, or others are meant.
  let modified: Int
}
