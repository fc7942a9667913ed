// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Softmax of bytes by generated code is that of plain Swift, which goldens compare with the reference.
@Suite struct ByteSoftmaxTests {
  /// The kernel sets of this machine that have generated code for softmax of bytes.
  private static let sets = KernelSet.supported.filter { set in
    Softmax.chooseBytes(isSigned: true, factor: 0.1, isWord: false, rows: 1, depth: 64, using: set).kernel
      .implementation.contains("generated")
  }

  @Test("rows of any length and factor give the same bytes", arguments: sets, [false, true])
  func matches(set: KernelSet, isSigned: Bool) {
    for depth in [12, 13, 31, 63, 64, 65, 100, 127, 128, 129, 255, 256, 1001, 4100, 9000] {
      for (index, factor) in [0.0001, 0.004, 0.03, 0.0625, 0.11, 0.6, 3, 40].enumerated() {
        var random = SeededGenerator(seed: UInt64(depth * 10 + index))
        var values: [UInt8] = []
        // Rows of all bytes, of few, of equal ones, and of one that is greater than all others.
        for kind in 0..<19 {
          let least = [0, 0, 100, 127, 128, 250].randomElement(using: &random) ?? 0
          let greatest = kind % 4 == 1 ? least : kind % 4 == 2 ? min(least + 9, 255) : 255
          var row = (0..<depth).map { _ in UInt8(Int.random(in: least...greatest, using: &random)) }
          if kind % 4 == 3 {
            row = Array(repeating: UInt8(least), count: depth)
            row[Int.random(in: 0..<depth, using: &random)] = UInt8(min(least + kind * 7, 255))
          }
          values += row
        }
        let found = results(values, set, isSigned: isSigned, factor: factor, depth: depth)
        let expected = results(values, .portable, isSigned: isSigned, factor: factor, depth: depth)
        #expect(found == expected, "\(depth) with \(factor)")
      }
    }
  }

  private func results(
    _ values: [UInt8], _ set: KernelSet, isSigned: Bool, factor: Double, depth: Int
  ) -> [UInt8] {
    let (kernel, _) = Softmax.chooseBytes(
      isSigned: isSigned, factor: factor, isWord: false, rows: values.count / depth, depth: depth, using: set)
    #expect(kernel.implementation.contains("generated") == (set.name != KernelSet.portable.name))
    // The bytes behind the last row must stay.
    var results = [UInt8](repeating: 0xA5, count: values.count + 64)
    _ = unsafe results.withUnsafeMutableBytes { output in
      unsafe values.withUnsafeBytes { input in
        var target = unsafe output.mutableBytes
        kernel.run(unsafe input.bytes, to: &target, threads: ThreadTeam(count: 1))
      }
    }
    #expect(results.suffix(64).allSatisfy { $0 == 0xA5 })
    return Array(results.dropLast(64))
  }
}
