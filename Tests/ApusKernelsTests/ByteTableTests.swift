// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Functions of bytes by tables, with every kernel set and each way of looking up.
@Suite struct ByteTableTests {
  private static let sets: [KernelSet] = {
    #if arch(x86_64)
      let others =
        KernelSet.supported.contains { $0.name == "x86-avx512vnni" } ? [KernelSet.lookingUpRows] : []
      return KernelSet.supported + others
    #else
      return KernelSet.supported
    #endif
  }()

  private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in .random(in: 0...255, using: &random) }
  }

  @Test(
    "every byte becomes its entry, in place as well", arguments: KernelSet.supported,
    [1, 255, 256, 1000, 70_001])
  func kernels(set: KernelSet, count: Int) {
    let results = Self.bytes(256, seed: 7)
    let input = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let kernel = ByteTable(isSigned: true) { Int32(results[Int(UInt8(truncatingIfNeeded: $0))]) }
      .kernel(count: count, using: set)
    let expected = input.map { results[Int($0)] }
    for threads in [1, 3] {
      var output = [UInt8](repeating: 1, count: count)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      kernel.run(input.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
      #expect(output == expected)
    }
  }

  @Test("a bit that changes needs no table")
  func flips() {
    let input = Self.bytes(1000, seed: 3)
    var output = [UInt8](repeating: 1, count: 1000)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    ByteTable(isSigned: false) { $0 - 128 }.kernel(count: 1000, using: KernelSet.supported[0])
      .run(input.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
    #expect(output == input.map { $0 ^ 0x80 })
  }
}
