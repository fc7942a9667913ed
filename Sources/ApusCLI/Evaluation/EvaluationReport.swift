// SPDX-License-Identifier: Apache-2.0

import ApusConsole
import ApusVision

/// The parts that all reports of an evaluation share.
enum EvaluationReport {
  /// How many confusions and worst files are listed.
  static let maximumRows = 10
  /// How many of them are in JSON.
  static let maximumEntries = 1_000

  /// A number that is null in JSON if there is none.
  struct Share: Encodable {
    let value: Double?

    init(_ value: Double?) { self.value = value }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  /// A class with its name.
  struct Class: Encodable {
    let index: Int
    let label: String?

    private enum CodingKeys: CodingKey {
      case index, label
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(index, forKey: .index)
      try container.encode(label, forKey: .label)
    }
  }

  /// A class that was taken for another.
  struct Confusion: Encodable {
    let truth: Class
    let found: Class
    let count: Int
  }

  /// A share as percent.
  static func percent(_ value: Double?) -> String { value.map { decimal(100 * $0, 2) + " %" } ?? "–" }

  /// A heading with a table below it; nothing without rows.
  static func section(_ title: String, _ heading: [String], _ rows: [[String]], right: Set<Int>) {
    guard !rows.isEmpty else { return }
    Output.write("")
    Output.write(rows.count > maximumRows ? "\(title) (\(maximumRows) of \(rows.count))" : title)
    Output.write(table([heading] + rows.prefix(maximumRows), rightAligned: right))
  }

  /// The guesses about the model that the numbers depend on, below everything else; nothing without any.
  static func write(guesses: [Assumption]) {
    guard !guesses.isEmpty else { return }
    Output.write("")
    Output.write("guesses, which the numbers depend on")
    Output.write(guesses.map { "  " + oneLine($0.text) }.joined(separator: "\n"))
  }

  /// How many files were counted, and how many failed.
  static func write(task: EvaluationTask, count: Int, failures: Int) {
    let files = "\(count) \(count == 1 ? "file" : "files")"
    Output.write("\(task.rawValue): \(files)" + (failures > 0 ? ", and \(failures) that failed" : ""))
  }
}

extension [Assumption] {
  /// The guesses alone.
  var guesses: [Assumption] { filter { $0.source == .guess } }
}
