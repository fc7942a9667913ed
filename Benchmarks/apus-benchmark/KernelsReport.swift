// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusKernels

/// The report of `apus-benchmark kernels`; its names are those of the JSON.
struct KernelsReport: Encodable {
  /// An instruction's rate.
  struct Peak: Encodable {
    let instruction: String
    let gmacsPerSecond: Double
  }

  /// One kernel set on one layer.
  struct Layer: Encodable {
    let kernels: String
    let kind: String
    let type: String
    let shape: String
    let rows: Int
    let depth: Int
    let columns: Int
    let count: Int
    let macs: Int
    let group: String
    /// Nil if the set declines the layer.
    let medianMs: Double?
    let gmacsPerSecond: Double?
    let peakShare: Double?
  }

  /// One kernel set on all layers of a group, each as often as models have it.
  struct Sum: Encodable {
    let kernels: String
    let type: String
    let group: String
    let layers: Int
    /// The share of the group's multiply-accumulates for which the set has a kernel, 0 to 1.
    let covered: Double
    /// Multiply-accumulates divided by time, so weighted by multiply-accumulates.
    let gmacsPerSecond: Double?
    let peakShare: Double?
  }

  var peaks: [Peak] = []
  var layers: [Layer] = []
  var sums: [Sum] = []

  /// Adds up the layers of each set, type and group.
  mutating func addSums(sets: [KernelSet], machine: MachinePeak) {
    for scheme in LayerShape.Scheme.allCases {
      for group in LayerShape.Group.allCases {
        for set in sets {
          let all = layers.filter {
            $0.kernels == set.name && $0.type == scheme.rawValue && $0.group == group.name
          }
          let known = all.filter { $0.medianMs != nil }
          let total = all.reduce(0.0) { $0 + Double($1.macs * $1.count) }
          guard total > 0 else { continue }
          let work = known.reduce(0.0) { $0 + Double($1.macs * $1.count) }
          let time = known.reduce(0.0) { $0 + ($1.medianMs ?? 0) * Double($1.count) }
          let rate = time > 0 ? work / time / 1e6 : nil
          let peak = machine.peak(of: KernelSetName(rawValue: set.name), isFloat: scheme == .float32)
          sums.append(
            Sum(
              kernels: set.name, type: scheme.rawValue, group: group.name, layers: all.count,
              covered: work / total,
              gmacsPerSecond: rate, peakShare: rate.map { $0 / peak }))
        }
      }
    }
  }

  /// The report for people.
  func text(everyLayer: Bool) -> String {
    var text = table(
      [["instruction", "GMAC/s"]] + peaks.map { [$0.instruction, decimal($0.gmacsPerSecond, 1)] },
      rightAligned: [1])
    if everyLayer {
      var rows = [["layer", "kind", "type", "kernels", "rows", "K", "columns", "ms", "GMAC/s", "% of peak"]]
      for layer in layers {
        rows.append([
          layer.shape, layer.kind, layer.type, layer.kernels, "\(layer.rows)", "\(layer.depth)",
          "\(layer.columns)",
          decimal(layer.medianMs, 4), decimal(layer.gmacsPerSecond, 1),
          decimal(layer.peakShare.map { $0 * 100 }, 1),
        ])
      }
      text += "\n\n" + table(rows, rightAligned: Set(4...9))
    }
    var rows = [["type", "layers of", "count", "kernels", "covered %", "GMAC/s", "% of peak"]]
    for sum in sums {
      rows.append([
        sum.type, sum.group, "\(sum.layers)", sum.kernels, decimal(sum.covered * 100, 1),
        decimal(sum.gmacsPerSecond, 1), decimal(sum.peakShare.map { $0 * 100 }, 1),
      ])
    }
    return text + "\n\n" + table(rows, rightAligned: [2, 4, 5, 6])
  }
}
