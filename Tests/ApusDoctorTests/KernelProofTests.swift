// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusAssembly
import ApusCodeGeneration
import ApusKernels
import ApusPixels
import ApusVision
import Foundation
import TestSupport
import Testing

/// `Runtime.provesKernels`: sets that differ from plain Swift are not used.
@Suite(.serialized) struct KernelProofTests {
  /// Requires proofs while `body` runs. Other tests of this process lose nothing by it.
  private func whileRequired(_ body: () throws -> Void) rethrows {
    let before = Runtime.provesKernels
    Runtime.provesKernels = true
    defer { Runtime.provesKernels = before }
    try body()
  }

  @Test("every kernel set of this machine agrees with plain Swift", arguments: KernelSet.supported)
  func agrees(set: KernelSet) {
    #expect(KernelProofs.difference(of: set) == nil)
  }

  @Test("without the option, nothing is compared")
  func isOptional() {
    #expect(!Runtime.provesKernels || ProcessInfo.processInfo.environment["APUS_PROVE"] != nil)
    let set = KernelSet.portable.broken(.convolutions)
    let before = Runtime.provesKernels
    Runtime.provesKernels = false
    defer { Runtime.provesKernels = before }
    #expect(KernelProofs.objection(to: set) == nil)
    #expect(KernelProofs.choose(among: [set]).set === set)
  }

  @Test("a broken set is named, and the next one is chosen")
  func stepsDown() {
    whileRequired {
      let (first, second) = (KernelSet.portable.broken(.convolutions), KernelSet.portable.broken(.depthwise))
      let choice = KernelProofs.choose(among: [first, second, .blas, .portable])
      #expect(choice.set.name == (KernelSet.blas.convolutions.missing() == nil ? "blas" : "portable"))
      #expect(choice.declined.count == 2)
      #expect(
        choice.declined[0].reason.contains("wrong on this processor: a product of uint8: byte 204 of 205"))
      #expect(choice.declined[1].reason.contains("depthwise"))
      // Asked again, it is not compared again.
      #expect(KernelProofs.objection(to: first) != nil)
      #expect(KernelProofs.objection(to: .portable) == nil)
    }
  }

  @Test(
    "a layer is not given to a broken set, and says why",
    arguments: KernelSet.supported.filter { $0 !== KernelSet.portable })
  func layers(real: KernelSet) throws {
    try whileRequired {
      let set = real.broken(.convolutions)
      let product = Convolution(
        rows: 4, depth: 8, columns: 8, operands: .float32, epilogue: .float32(minimum: 0, maximum: 6))
      let chosen = try #require(set.choose(product))
      #expect(chosen.choice.set != set.name && chosen.choice.declined.first?.set == set.name)
      #expect(try #require(chosen.choice.declined.first).reason.contains("wrong on this processor"))
    }
  }

  @Test("the fastest set of this machine stays chosen, and models run")
  func keepsTheDefault() throws {
    let before = Runtime.kernelSets.first(where: \.isDefault)?.name
    try whileRequired {
      #expect(Runtime.kernelSets.first(where: \.isDefault)?.name == before)
      try Runtime.checkKernels(named: before)
    }
  }

  #if arch(x86_64)
    private static let generated = Array(KernelSet.supported.filter { $0.generated != nil }.prefix(1))

    @Test(
      "each way of being broken is found", arguments: generated,
      Breakage.allCases.filter { $0 != .threads })
    func findsBroken(set: KernelSet, breakage: Breakage) throws {
      guard breakage.exists(in: set) else { return }
      let difference = try #require(KernelProofs.difference(of: set.broken(breakage)), "\(breakage)")
      #expect(difference.contains(", not "))
    }

    @Test(
      "a wrong function of floats is found, whichever it is", arguments: generated,
      FloatFunction.samples)
    func findsWrongFunction(set: KernelSet, function: FloatFunction) throws {
      // A function without code is plain Swift's.
      do throws(Decline) { _ = try set.generatedKernels().floatMapping(function) } catch { return }
      let difference = try #require(KernelProofs.difference(of: set.broken(function)))
      #expect(difference.hasPrefix("\(function) of floats: "))
    }

    // Where another set comes first, tiles of this one may be others.
    @Test(
      "trials take every way to multiply and to rescale",
      arguments: KernelSet.supported.prefix(1).filter { $0 === KernelSet.x86AVX2 })
    func coversStrategies(set: KernelSet) {
      let recorder = RecordingConvolutions(set.convolutions)
      let recorded = KernelSet(
        name: set.name, requires: set.requires, convolutions: recorder, generated: set.generated)
      #expect(KernelProofs.difference(of: recorded) == nil)
      let found = recorder.implementations
      let ways = [
        "vectorized along K", "2 accumulators per output", "4 accumulators per output", "panels in one call",
        "rows in place",
        "rows gathered (padding)", "depthwise products", "read in place", "pixels as one",
        "outputs in double precision", "right shifts only", "ReLU folded", "step by step",
        "outputs in single precision", "float outputs scaled by image", "bfloat16", "Winograd's F(2×2, 3×3)",
        "Winograd's F(4×4, 3×3)",
      ]
      for way in ways { #expect(found.contains { $0.contains(way) }, "\(way): \(found)") }
    }
  #endif

  @Test("the code for pictures agrees with plain Swift", arguments: KernelSet.supported)
  func picturesAgree(set: KernelSet) {
    #expect(PictureTrial.difference(of: set) == nil)
  }

  @Test("a set whose code for pictures is wrong may still run models")
  func usesAreApart() {
    whileRequired {
      let set = KernelSet.portable.broken(.threads)
      #expect(
        KernelProofs.objection(to: set, for: .pictures) { _ in "a pixel" }?.description.contains("a pixel")
          == true)
      #expect(KernelProofs.objection(to: set) == nil)
      // Asked again, it is not compared again.
      #expect(KernelProofs.objection(to: set, for: .pictures) { _ in nil } != nil)
      #expect(Runtime.pictureKernels.name == Runtime.kernelSets.first(where: \.isDefault)?.name.rawValue)
    }
  }

  @Test(
    "APUS_PROVE asks for it", .enabled(if: builtExecutable("apus") != nil, "apus is missing"),
    arguments: [("1", 0), ("0", 0)])
  func environment(value: String, status: Int32) throws {
    let process = Process()
    let program: URL = try #require(builtExecutable("apus"))
    process.executableURL = program
    process.arguments = ["kernels", "--json"]
    process.environment = ProcessInfo.processInfo.environment.merging(["APUS_PROVE": value]) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == status)
    #expect(output.contains(#""chosen":true"#) && !output.contains("wrong"))
  }
}
