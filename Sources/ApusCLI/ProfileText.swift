// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole

/// A profile as a table, and its sums by kind of operator. Where lines have room for it, the table says how each step
/// works.
struct ProfileText {
  /// A step, with the time that it takes.
  struct Row {
    let entry: ProfileEntry
    let milliseconds: Double
  }

  let text: String

  init(_ steps: [Row]) {
    let total = max(steps.reduce(0) { $0 + $1.milliseconds }, 1e-9)
    var rows = [["#", "operator", "output", "ms", "%", "kernels", "implementation"]]
    for step in steps {
      let entry = step.entry
      rows.append([
        "\(entry.operatorIndex)", ([entry.name] + entry.absorbed).joined(separator: " + "),
        entry.output.description, decimal(step.milliseconds, 3),
        decimal(step.milliseconds / total * 100, 1),
        entry.implementation.kernelSet.rawValue, entry.implementation.text,
      ])
    }
    var sums: [String: (count: Int, milliseconds: Double)] = [:]
    for step in steps {
      sums[step.entry.name, default: (0, 0)].count += 1
      sums[step.entry.name, default: (0, 0)].milliseconds += step.milliseconds
    }
    var summary = [["operator", "count", "ms", "%"]]
    for (name, sum) in sums.sorted(by: { ($0.value.milliseconds, $1.key) > ($1.value.milliseconds, $0.key) })
    {
      summary.append([
        name, "\(sum.count)", decimal(sum.milliseconds, 3), decimal(sum.milliseconds / total * 100, 1),
      ])
    }
    let columns = Output.columns
    // How a step works is long; broken into the column that is left, it would be hard to read.
    let widest = table(rows, rightAligned: [0, 3, 4]).split(separator: "\n").map(\.count).max() ?? 0
    if widest > columns { rows = rows.map { Array($0.dropLast()) } }
    text =
      table(rows, rightAligned: [0, 3, 4], width: columns) + "\n\n" + table(summary, rightAligned: [1, 2, 3])
  }
}
