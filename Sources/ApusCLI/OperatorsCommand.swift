// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ArgumentParser

/// `apus operators`: what this build runs.
struct OperatorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "operators", abstract: "Lists the operators and element types that this build runs.",
    discussion: """
      For example:
        apus operators --json
      """)

  @Flag(help: "Print one JSON document.")
  var json = false

  @Flag(help: "Print the page Docs/Operators.md.")
  var markdown = false

  struct Entry: Encodable {
    let name: String
    let custom: Bool
    let versions: [Int]
    let types: [String]
    let firstInputTypes: [String]
  }

  func validate() throws {
    guard !(json && markdown) else { throw ValidationError("--json and --markdown exclude each other") }
  }

  func run() throws {
    if markdown {
      Output.write(OperatorTable.markdown)
      return
    }
    let operators = Runtime.operators
    if json {
      try Output.writeJSON(
        operators.map {
          Entry(
            name: $0.name, custom: $0.isCustom, versions: [$0.versions.lowerBound, $0.versions.upperBound],
            types: $0.types.map(\.rawValue), firstInputTypes: $0.firstInputTypes.map(\.rawValue))
        })
      return
    }
    var rows = [["operator", "versions", "types", "first input"]]
    for entry in operators {
      rows.append([
        entry.name + (entry.isCustom ? " (custom)" : ""),
        "\(entry.versions.lowerBound)–\(entry.versions.upperBound)",
        entry.types.map(\.rawValue).joined(separator: " "),
        entry.firstInputTypes.map(\.rawValue).joined(separator: " "),
      ])
    }
    Output.write(table(rows, width: Output.columns))
  }
}
