// SPDX-License-Identifier: Apache-2.0

import ApusConsole
import ApusDoctor

extension DoctorReport {
  /// The report for people, in lines of at most 80 characters.
  var text: String {
    let width = min(Output.columns, 80)
    var facts = [
      ["apus \(version)", healthy ? "everything that runs here is right" : "NOT RIGHT, see below"]
    ]
    facts.append(["system", machine.system])
    facts.append(["processor", machine.processor])
    facts.append(["", processorText])
    facts.append(["caches", cachesText])
    facts.append(["memory", memoryText])
    facts.append(["generated code", generatedCodeText])
    var parts = [table(facts, width: width), table(kernelRows, rightAligned: [3, 4], width: width)]
    parts += failureTexts
    parts.append(table(softwareRows, width: width))
    return parts.joined(separator: "\n\n")
  }

  private var processorText: String {
    var parts = ["\(machine.architecture), \(machine.processors) processors"]
    if let limit = machine.processorLimit { parts.append("limited to the time of \(decimal(limit, 1))") }
    return (parts + machine.features).joined(separator: ", ")
  }

  private var cachesText: String {
    let texts = machine.caches.map { cache in
      let size =
        cache.kilobytes >= 1024 && cache.kilobytes.isMultiple(of: 1024)
        ? "\(cache.kilobytes / 1024) MiB" : "\(cache.kilobytes) KiB"
      return "L\(cache.level)\(cache.kind == "Data" ? "d" : cache.kind == "Instruction" ? "i" : "") \(size)"
    }
    return texts.isEmpty ? "unknown" : texts.joined(separator: ", ")
  }

  private var memoryText: String {
    func size(_ megabytes: Int) -> String { decimal(Double(megabytes) / 1024, 1) + " GiB" }
    guard let memory = machine.memoryMegabytes else { return "unknown" }
    var parts = [size(memory)]
    if let available = machine.availableMegabytes { parts.append("\(size(available)) available") }
    if let limit = machine.memoryLimitMegabytes { parts.append("limited to \(size(limit))") }
    return parts.joined(separator: ", ")
  }

  private var generatedCodeText: String {
    let reason = generatedCode.reason.map { ": \($0)" } ?? ""
    return (generatedCode.allowed ? "allowed" : "refused") + reason
  }

  private var kernelRows: [[String]] {
    var rows = [["kernels", "proof", "threads", "8-bit GMAC/s", "float GMAC/s"]]
    for set in kernels {
      var outcome = set.reason ?? "not run"
      if let proof = set.proof {
        outcome =
          proof.failures.isEmpty
          ? "\(proof.caseCount) cases right" : "\(proof.failures.count) of \(proof.caseCount) cases WRONG"
      } else if set.isWrong {
        outcome = "FAILED: \(outcome)"
      }
      rows.append([
        set.name + (set.chosen ? " *" : ""), outcome,
        set.proof?.threadCounts.map(String.init).joined(separator: ", ") ?? "–",
        decimal(set.gmacsPerSecondBytes, 1), decimal(set.gmacsPerSecondFloats, 1),
      ])
    }
    return rows
  }

  private var failureTexts: [String] {
    kernels.compactMap { set in
      guard let failures = set.proof?.failures, !failures.isEmpty else { return nil }
      var rows = [["\(set.name), wrong", "threads", "what"]]
      rows += failures.prefix(10).map { [$0.name, "\($0.threads)", $0.reason] }
      let more = failures.count > 10 ? "\nand \(failures.count - 10) more" : ""
      return table(rows, width: min(Output.columns, 80)) + more
    }
  }

  private var softwareRows: [[String]] {
    [["found", "for", "where"]]
      + software.map { item in
        let place = item.file ?? "missing"
        return [item.name, item.purpose, place + (item.note.map { ": \($0)" } ?? "")]
      }
  }
}
