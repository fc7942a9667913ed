// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ArgumentParser

/// `apus kernels`: the implementations of the hot loops.
struct KernelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels", abstract: "Lists the kernel sets, which of them this machine runs, and how fast.",
    discussion: """
      For example:
        apus kernels --json
      """)

  @Flag(help: "Print one JSON document.")
  var json = false

  struct Entry: Encodable {
    let name: KernelSetName
    let supported: Bool
    let chosen: Bool
    let reason: String?
    let gmacsPerSecondBytes: Double?
    let gmacsPerSecondFloats: Double?
  }

  func run() throws {
    // An unknown name in the environment is an error here as well.
    try Runtime.checkKernels(named: nil)
    let entries = try Runtime.kernelSets.map { set in
      let peak = set.isSupported ? try Runtime.measuredPeak(of: set.name) : nil
      return Entry(
        name: set.name, supported: set.isSupported, chosen: set.isDefault, reason: set.unsupportedReason,
        gmacsPerSecondBytes: peak?.gmacsPerSecond8Bit, gmacsPerSecondFloats: peak?.gmacsPerSecondFloat32
      )
    }
    if json {
      try Output.writeJSON(entries)
      return
    }
    var rows = [["kernels", "state", "8-bit GMAC/s", "float GMAC/s"]]
    for entry in entries {
      let state = entry.chosen ? "chosen" : entry.supported ? "supported" : entry.reason ?? "not supported"
      rows.append([
        entry.name.rawValue, state, entry.gmacsPerSecondBytes.map { decimal($0, 1) } ?? "–",
        entry.gmacsPerSecondFloats.map { decimal($0, 1) } ?? "–",
      ])
    }
    Output.write(table(rows, rightAligned: [2, 3]))
    Output.write("one thread; a product of 384×512 by 512×512")
  }
}
