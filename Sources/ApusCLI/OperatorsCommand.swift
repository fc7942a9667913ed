import Apus
import ArgumentParser

/// `apus operators`: what this build runs.
struct OperatorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "operators", abstract: "Lists the operators and element types that this build runs.")

  @Flag(help: "Print one JSON document.")
  var json = false

  struct Entry: Encodable {
    let name: String
    let custom: Bool
    let versions: [Int]
    let types: [String]
  }

  func run() throws {
    let operators = Runtime.operators
    if json {
      try Output.writeJSON(
        operators.map {
          Entry(
            name: $0.name, custom: $0.isCustom, versions: [$0.versions.lowerBound, $0.versions.upperBound],
            types: $0.types.map(\.rawValue))
        })
      return
    }
    var rows = [["operator", "versions", "types of the first input"]]
    for entry in operators {
      rows.append([
        entry.name + (entry.isCustom ? " (custom)" : ""),
        "\(entry.versions.lowerBound)–\(entry.versions.upperBound)",
        entry.types.map(\.rawValue).joined(separator: " "),
      ])
    }
    Output.write(table(rows))
  }
}
