// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusDoctor
import ArgumentParser
import FoundationEssentials

/// `apus doctor`: whether the kernels are right on this machine, and what it has.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Proves the kernels on this machine, and reports what it has.",
    discussion: """
      Each kernel set that the machine can run computes built-in cases, whose
      numbers are those of LiteRT's reference kernels, with several numbers of
      threads. The status is 1 if a set fails. Errors that you report should come
      with this report.

      For example:
        apus doctor
        apus doctor --json > machine.json
      """)

  @Option(name: .long, help: "Prove only this kernel set, see 'apus kernels'.")
  var kernels: String?

  @Flag(help: "Print one JSON document.")
  var json = false

  /// How a set is proved by a process that may crash.
  @Flag(name: .long, help: .hidden)
  var proveHere = false

  func run() throws {
    // Here, sets are proved by processes that may crash.
    Runtime.provesKernels = false
    // An unknown name in the environment is an error here as well.
    try Runtime.checkKernels(named: nil)
    if let kernels { try Runtime.checkKernels(named: KernelSetName(rawValue: kernels)) }
    let sets = Runtime.kernelSets.filter { kernels == nil || $0.name.rawValue == kernels }
    if proveHere {
      try Output.writeJSON(sets.map { try KernelSetTrial.prove($0) })
      return
    }
    let reports = sets.map { set in
      guard set.isSupported else { return DoctorReport.KernelSetReport(of: set) }
      Output.progress("proving \(set.name)")
      return KernelSetTrial.proveApart(set)
    }
    let report = DoctorReport(kernels: reports)
    if json { try Output.writeJSON(report) } else { Output.write(report.text) }
    let wrong = report.kernels.filter(\.isWrong)
    guard let first = wrong.first else { return }
    let others = wrong.count > 1 ? " (and \(wrong.count - 1) more)" : ""
    let reason = first.proof?.failures.first.map { "\($0.name): \($0.reason)" } ?? first.reason ?? "no answer"
    throw ApusError(.internalError, "the kernel set \(first.name) fails on this machine\(others): \(reason)")
  }
}
