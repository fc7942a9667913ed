// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

extension ValidationError {
  /// Checks the ending of a file's name, in whatever case.
  ///
  /// - Parameter output: The value of `--output`; nil if it is not given.
  static func check(output: String?, endings: [String]) throws {
    guard let output, !endings.contains(where: output.lowercased().hasSuffix) else { return }
    throw ValidationError("--output \(output) is not a \(endings.joined(separator: " or ")) file")
  }
}
