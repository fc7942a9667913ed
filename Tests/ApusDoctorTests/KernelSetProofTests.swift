// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusDoctor
import ApusKernels
import Testing

/// The doctor's cases pass with the kernels as they are, and not with broken ones.
@Suite struct KernelSetProofTests {
  private static let cases = Result { try GoldenCase.all() }

  @Test("every kernel set of this machine computes the reference's numbers", arguments: KernelSet.supported)
  func passes(set: KernelSet) throws {
    let proof = KernelSetProof(of: set, on: try Self.cases.get(), threadCounts: [1, 2, 3])
    let failures = proof.failures.map { "\($0.name) on \($0.threads) threads: \($0.reason)" }
    #expect(failures.isEmpty, "\(failures.prefix(5))")
  }

  @Test("cases cover each common type, larger ones several threads")
  func covers() throws {
    let cases = try Self.cases.get()
    #expect(cases.count >= 50)
    for type in ["float32", "int8", "uint8"] {
      for name in ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"] {
        #expect(cases.contains { $0.name.hasPrefix("\(name) \(type)") }, "\(name) of \(type)")
      }
    }
    #expect(cases.count { $0.name.contains("threads") } >= 6)
    for golden in cases {
      #expect(!golden.model.isEmpty && !golden.outputs.isEmpty, "\(golden.name)")
    }
  }

  #if arch(x86_64)
    private static let generated = Array(KernelSet.supported.filter { $0.generated != nil }.prefix(1))

    @Test("a broken kernel is found and named", arguments: generated, Breakage.allCases)
    func findsBroken(set: KernelSet, breakage: Breakage) throws {
      guard breakage.exists(in: set) else { return }
      let proof = KernelSetProof(
        of: set.broken(breakage), on: try Self.cases.get(), threadCounts: [1, 2])
      let failure = try #require(proof.failures.first, "\(breakage) was not found")
      #expect(failure.reason.contains("is "))
      let cases = proof.failures.filter { !$0.name.contains("beside plain Swift") }
      #expect(!cases.isEmpty, "only the comparison with plain Swift found \(breakage)")
      if breakage == .threads { #expect(proof.failures.allSatisfy { $0.threads == 2 }) }
      if breakage == .depthwise { #expect(cases.allSatisfy { $0.name.contains("DEPTHWISE") }) }
    }
  #endif

  @Test("numbers of threads to prove with include one, some and all processors")
  func threadCounts() {
    #expect(KernelSetProof.threadCounts(processors: 1) == [1, 2, 3])
    #expect(KernelSetProof.threadCounts(processors: 6) == [1, 2, 3, 6])
    #expect(KernelSetProof.threadCounts(processors: 200) == [1, 2, 3, 8])
  }
}
