// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Foundation
import Testing

/// The goldens of one operator: for each case a model, its inputs, and what the reference answered.
struct GoldenArchive: CustomTestStringConvertible, Sendable {
  /// The operator's name.
  let name: String

  /// The operators of this build that have goldens, and what several operators do together.
  static let ofThisBuild: [GoldenArchive] = (Runtime.operators.map(\.name) + together)
    .map { GoldenArchive(name: $0) }.filter { (try? $0.open()) != nil }

  /// The archives that are run: all, or the one that the environment variable `APUS_GOLDEN` names, such as `CONV_2D` or
  /// `ABS/int8_rank4_00` for one of its cases.
  static let chosen = ofThisBuild.filter { choice == nil || $0.name == choice?.archive }

  private static let choice = ProcessInfo.processInfo.environment["APUS_GOLDEN"].map { text in
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    return (archive: parts.first ?? "", name: parts.dropFirst().first)
  }

  /// Whether a case of this archive is run.
  func isChosen(_ name: String) -> Bool {
    guard let choice = Self.choice, choice.archive == self.name, let only = choice.name else { return true }
    return name == only
  }

  /// The archives that are not of one operator, but for `GRAPHS`, whose graphs have states.
  static let together = [
    "HALF_CONV_2D", "HALF_TRANSPOSE_CONV", "MISDECLARED", "PADDED_CONV_2D", "PADDED_DEPTHWISE_CONV_2D",
    "SPECIAL_FILTERS", "SPECIAL_RECURRENT", "UNUSUAL",
  ]

  private static let folder =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    + "/Goldens"

  var testDescription: String { name }

  /// The names of all archives there are.
  static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".zip") }
      .map { String($0.dropLast(4)) }
  }

  /// Opens the archive; throws where there is none.
  func open() throws -> Contents {
    let archive = try ZipArchive(FileBytes(readingFileAt: "\(Self.folder)/\(name).zip"))
    var cases: [String] = []
    for entry in archive.entries {
      let name = String(entry.name.prefix { $0 != "/" })
      if cases.last != name { cases.append(name) }
    }
    return Contents(archive: archive, cases: cases)
  }

  /// An open archive.
  struct Contents {
    let archive: ZipArchive
    /// The names of the cases; each begins with the type of its operands.
    let cases: [String]

    /// The model of a case.
    func model(of name: String) throws -> Model {
      try Model(bytes: archive.contents(of: "\(name)/model.tflite"))
    }

    /// The arrays `<kind>_0`, `<kind>_1` … of a case.
    func arrays(_ kind: String, of name: String) throws -> [NumPyFile] {
      var arrays: [NumPyFile] = []
      let names = Set(archive.entries.map(\.name))
      while names.contains("\(name)/\(kind)_\(arrays.count).npy") {
        let file = try archive.contents(of: "\(name)/\(kind)_\(arrays.count).npy")
        guard let array = NumPyFile(file) else {
          throw GoldenFailure("\(kind) \(arrays.count) is no .npy file")
        }
        arrays.append(array)
      }
      return arrays
    }
  }
}

/// The failure of a case.
struct GoldenFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
