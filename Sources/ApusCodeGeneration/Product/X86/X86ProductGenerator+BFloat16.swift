// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Products of bfloat16 for processors without an instruction that is faster: weights are widened to floats when they
/// are loaded, and multiplied by FMA, one value of K after the other, in the order of `BFloat16Sum`.
///
/// `vdpbf16ps` takes subnormal numbers as zeros, and makes none. While sums are added, the modes of float arithmetic say
/// the same to FMA. They and a mask are kept below the stack pointer, where functions that call none have 128 bytes.
extension X86ProductGenerator {
  /// Whether weights are widened.
  var multipliesWidened: Bool { product == .bfloat16AsFloats }

  private var callersModes: X86Assembler.Memory { .init(.rsp, -8) }
  private var flushingModes: X86Assembler.Memory { .init(.rsp, -16) }
  private var upperHalves: X86Assembler.Memory { .init(.rsp, -24) }
  /// The register with the bits of upper halves set; the epilogue of floats does not use it.
  private var mask: Int { target == .avx512 ? 31 : 15 }
  private var firstWeight: Int { end.free(0) }

  /// Saves the caller's modes, and prepares those of the sums; clobbers `rax`.
  func saveModes(_ a: inout X86Assembler) {
    a.storeModes(callersModes)
    // All exceptions masked, rounding to nearest, subnormal operands and results as zeros.
    a.move(.rax, 0x9FC0)
    a.store(flushingModes, .rax)
    a.moveWide(.rax, 0xFFFF_0000)
    a.store(upperHalves, .rax)
    a.vector(.vpbroadcastd, width, mask, 0, upperHalves)
  }

  func flushSmallNumbers(_ a: inout X86Assembler) { a.loadModes(flushingModes) }
  func restoreModes(_ a: inout X86Assembler) { a.loadModes(callersModes) }

  /// One K-step: the second value of K, then the first.
  func widenedStep(_ a: inout X86Assembler, _ bases: [General], _ index: Int) {
    let end = end
    let vectorCount = shape.vectorCount
    let firstLane = firstWeight + vectorCount
    let turns = max(1, min(4, mask - firstLane))
    for term in [1, 0] {
      for vector in 0..<vectorCount {
        let memory = X86Assembler.Memory(.rsi, (index * vectorCount + vector) * width.byteCount)
        let weight = firstWeight + vector
        switch (term, target) {
        case (1, _): a.vector(.vpand, width, weight, mask, memory)
        case (_, .avx512): a.shift(.shiftDoubles, digit: 6, width, weight, memory, by: 16)
        case (_, .avx2):
          a.vector(.vmovdqu, width, weight, 0, memory)
          a.shift(.shiftDoubles, digit: 6, width, weight, weight, by: 16)
        }
      }
      for row in 0..<rowCount {
        let memory = end.place(bases, row, 8 * index + 4 * term)
        if target == .avx512, vectorCount == 1 {
          a.vector(.vfmadd231ps, width, end.sum(row, 0), firstWeight, memory, broadcasts: true)
          continue
        }
        let lane = firstLane + row % turns
        a.vector(.vbroadcastss, width, lane, 0, memory)
        for vector in 0..<vectorCount {
          a.vector(.vfmadd231ps, width, end.sum(row, vector), lane, firstWeight + vector)
        }
      }
    }
  }
}
