// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusAssembly

/// The report on a machine: its kernel sets, its properties and its software.
package struct DoctorReport: Encodable, Sendable {
  /// Whether generated code may run.
  package struct GeneratedCode: Encodable, Sendable {
    /// Whether it may.
    package let allowed: Bool
    /// Why not, or in which way alone; nil if nothing is refused.
    package let reason: String?
  }

  /// A kernel set.
  package struct KernelSetReport: Codable, Sendable {
    /// Its name.
    package let name: String
    /// Whether this machine can run it.
    package let supported: Bool
    /// Whether it runs by default.
    package let chosen: Bool
    /// Why it is not supported, or why the proof ended early; nil otherwise.
    package let reason: String?
    /// The outcome of the proof; nil if there is none.
    package let proof: KernelSetProof?
    /// 10⁹ multiply-accumulates of bytes per second on one thread; nil if it was not measured.
    package let gmacsPerSecondBytes: Double?
    /// 10⁹ multiply-accumulates of floats per second on one thread; nil if it was not measured.
    package let gmacsPerSecondFloats: Double?

    /// Whether the set runs here and all its cases came out right.
    package var isProved: Bool { proof?.failures.isEmpty ?? false }
    /// Whether the set should run here, but does not come out right.
    package var isWrong: Bool { supported && !isProved }

    /// Describes a set.
    package init(
      of set: Runtime.KernelSetDescription, reason: String? = nil, proof: KernelSetProof? = nil,
      peak: Runtime.MeasuredPeak? = nil
    ) {
      name = set.name.rawValue
      supported = set.isSupported
      chosen = set.isDefault
      self.reason = reason ?? set.unsupportedReason
      self.proof = proof
      gmacsPerSecondBytes = peak?.gmacsPerSecond8Bit
      gmacsPerSecondFloats = peak?.gmacsPerSecondFloat32
    }
  }

  /// The version of Apus.
  package let version: String
  /// Whether every set that this machine can run was proved.
  package let healthy: Bool
  /// The machine.
  package let machine: MachineFacts
  /// Whether generated code may run.
  package let generatedCode: GeneratedCode
  /// Every kernel set of this build, fastest first.
  package let kernels: [KernelSetReport]
  /// Libraries, programs and fonts.
  package let software: [FoundSoftware]

  /// A report of this machine on kernel sets that were proved.
  package init(kernels: [KernelSetReport]) {
    version = Runtime.version
    healthy = !kernels.contains(where: \.isWrong)
    machine = MachineFacts()
    let permission = CodePermission.ask()
    generatedCode = GeneratedCode(allowed: permission.isAllowed, reason: permission.reason)
    self.kernels = kernels
    software = FoundSoftware.all()
  }
}
