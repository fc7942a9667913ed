// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusDoctor
import FoundationEssentials

/// The proof of a kernel set, in this process or in one that may crash.
enum KernelSetTrial {
  /// Proves and measures a set in this process.
  static func prove(_ set: Runtime.KernelSetDescription) throws(ApusError) -> DoctorReport.KernelSetReport {
    let kernels = try Runtime.kernelSet(named: set.name)
    let threads = KernelSetProof.threadCounts(processors: ProcessInfo.processInfo.activeProcessorCount)
    let proof = KernelSetProof(of: kernels, on: try GoldenCase.all(), threadCounts: threads)
    return DoctorReport.KernelSetReport(of: set, proof: proof, peak: try Runtime.measuredPeak(of: set.name))
  }

  /// Proves and measures a set in another process: an instruction that the processor lacks ends only that.
  static func proveApart(_ set: Runtime.KernelSetDescription) -> DoctorReport.KernelSetReport {
    do {
      let ending = try OwnProcess.run(
        ["doctor", "--kernels", set.name.rawValue, "--json", "--prove-here"], isQuiet: true)
      if let signal = ending.signal {
        return .init(of: set, reason: "the proof was ended by signal \(signal)\(Self.meaning(of: signal))")
      }
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      let reports = try decoder.decode([DoctorReport.KernelSetReport].self, from: Data(ending.output))
      if let report = reports.first { return report }
    } catch let error as ApusError {
      return .init(of: set, reason: error.message)
    } catch {}
    return .init(of: set, reason: "the proof ended without an answer")
  }

  private static func meaning(of signal: Int32) -> String {
    switch signal {
    case 4: ", an instruction that the processor lacks"
    case 7, 11: ", memory that does not exist"
    case 9: ", as the system ends processes that take too much memory"
    default: ""
    }
  }
}
