// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole

/// The report on a model; its names are those of the JSON.
struct ModelReport: Codable {
  /// One operator's share of it.
  struct Operator: Codable {
    let index: Int
    let name: String
    /// The operators that it absorbs.
    let absorbed: [String]
    let output: [Int]
    let medianMs: Double
    /// The share of the sum of all operators, 0 to 1.
    let timeShare: Double
    let macs: Int
    let gmacsPerSecond: Double
    let peakShare: Double
    /// The kernel set, and how it works.
    let kernels: KernelSetName
    let implementation: String
  }

  let model: String
  let threads: Int
  let kernels: KernelSetName
  let loadMs: Double
  let firstMs: Double
  let medianMs: Double
  let p95Ms: Double
  let minMs: Double
  let peakRssMb: Double
  /// The peak minus what was resident before the model was loaded.
  let growthMb: Double
  let arenaBytes: Int
  let packedBytes: Int
  let macs: Int
  let gmacsPerSecond: Double
  /// The share of the machine's measured peak with as many threads, 0 to 1.
  let peakShare: Double
  var operators: [Operator]?

  /// The report for people.
  var text: String {
    var rows = [
      ["load", decimal(loadMs, 3) + " ms"], ["first inference", decimal(firstMs, 3) + " ms"],
      ["median", decimal(medianMs, 3) + " ms"], ["95th percentile", decimal(p95Ms, 3) + " ms"],
      ["minimum", decimal(minMs, 3) + " ms"],
      ["peak resident memory", decimal(peakRssMb, 1) + " MB, grown by \(decimal(growthMb, 1)) MB"],
      ["arena", decimal(Double(arenaBytes) / 1024, 1) + " KB"],
      ["packed weights", decimal(Double(packedBytes) / 1024, 1) + " KB"],
      ["multiply-accumulates", decimal(Double(macs) / 1e6, 3) + " M"],
    ]
    rows.append([
      "rate", "\(decimal(gmacsPerSecond, 2)) GMAC/s, \(decimal(peakShare * 100, 1)) % of the peak",
    ])
    var text = "\(oneLine(model)): kernels \(kernels), threads \(threads)\n" + table(rows)
    guard let operators else { return text }
    var lines = [
      ["#", "operator", "output", "ms", "%", "MMAC", "GMAC/s", "% of peak", "kernels", "implementation"]
    ]
    for entry in operators {
      let isProduct = entry.macs > 0
      lines.append([
        "\(entry.index)", ([entry.name] + entry.absorbed).joined(separator: " + "),
        entry.output.map(String.init).joined(separator: "×"),
        decimal(entry.medianMs, 4), decimal(entry.timeShare * 100, 1),
        isProduct ? decimal(Double(entry.macs) / 1e6, 2) : "",
        isProduct ? decimal(entry.gmacsPerSecond, 1) : "",
        isProduct ? decimal(entry.peakShare * 100, 1) : "", entry.kernels.rawValue, entry.implementation,
      ])
    }
    text += "\n\n" + table(lines, rightAligned: [0, 3, 4, 5, 6, 7]) + "\n"
    return text
  }
}
