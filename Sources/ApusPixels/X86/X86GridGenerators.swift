// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates the interpolation of a channel between the cells of a row, a column at a time.
struct X86GridCellsGenerator: CodeGenerator, Hashable {
  private typealias A = GridCode.Cells
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    let (near, far) = (0, 1)
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.values)))
    a.load(.rcx, .init(.rdi, A.offset(\.first)))
    a.load(.rdx, .init(.rdi, A.offset(\.second)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    a.load(.r8, .init(.rdi, A.offset(\.target)))
    a.load(.r9, .init(.rdi, A.offset(\.count)))
    let next = a.loopHead()
    a.load(.r10, Memory(.rcx))
    a.load(.r11, Memory(.rdx))
    a.vector(.vbroadcastss, .xmm, near, 0, Memory(.rax, index: .r10, scale: 1))
    a.vector(.vbroadcastss, .xmm, far, 0, Memory(.rax, index: .r11, scale: 1))
    a.vector(.vsubps, .xmm, far, far, near)
    a.vector(.vbroadcastss, .xmm, 2, 0, Memory(.rsi))
    a.vector(.vmulps, .xmm, far, far, 2)
    a.vector(.vaddps, .xmm, far, far, near)
    a.vector(.vmovdStore, .xmm, far, 0, Memory(.r8))
    a.add(.rcx, 8)
    a.add(.rdx, 8)
    a.add(.rsi, 4)
    a.add(.r8, 4)
    a.decrement(.r9)
    a.jump(.notEqual, next)
    a.return()
    return a.finish()
  }
}

/// Generates the search for the largest channel between two rows, sixteen columns at a time, with AVX2.
struct X86GridLargestGenerator: CodeGenerator, Hashable {
  private typealias A = GridCode.Largest
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    let (one, channel) = (1, 2)
    // Of eight columns each.
    let (best, found, value, isLess) = ([4, 5], [6, 7], [8, 9], [10, 11])
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.upper)))
    a.load(.rcx, .init(.rdi, A.offset(\.lower)))
    a.load(.rdx, .init(.rdi, A.offset(\.planeStride)))
    a.load(.r8, .init(.rdi, A.offset(\.target)))
    a.load(.r9, .init(.rdi, A.offset(\.blocks)))
    a.vector(.vbroadcastss, .ymm, Self.weight, 0, Memory(.rdi, A.offset(\.weight)))
    a.vector(.vpbroadcastd, .ymm, one, 0, Memory(.rdi, A.offset(\.one)))

    let nextBlock = a.loopHead()
    a.move(.r10, .rax)
    a.move(.r11, .rcx)
    interpolate(&a, to: best)
    for half in 0..<2 { a.zeroVector(found[half], .ymm) }
    a.vector(.vpxor, .ymm, channel, channel, channel)
    let isComplete = a.makeLabel()
    a.load(.rsi, .init(.rdi, A.offset(\.others)))
    a.test(.rsi)
    a.jump(.equal, isComplete)
    let nextChannel = a.loopHead()
    a.add(.r10, .rdx)
    a.add(.r11, .rdx)
    a.vector(.vpaddd, .ymm, channel, channel, one)
    interpolate(&a, to: value)
    for half in 0..<2 {
      // All bits where the best so far is less; channels ascend, so that the largest of those found is the last.
      a.vector(.vcmpps, .ymm, isLess[half], best[half], value[half], immediate: 1)
      a.vector(.vpand, .ymm, isLess[half], isLess[half], channel)
      a.vector(.vpmaxsd, .ymm, found[half], found[half], isLess[half])
      a.vector(.vmaxps, .ymm, best[half], value[half], best[half])
    }
    a.decrement(.rsi)
    a.jump(.notEqual, nextChannel)
    a.place(isComplete)
    a.vector(.vpackssdw, .ymm, found[0], found[0], found[1])
    a.vector(.vpermq, .ymm, found[0], 0, found[0], immediate: 0xD8)
    a.vector(.vmovdquStore, .ymm, found[0], 0, Memory(.r8))
    a.add(.rax, 64)
    a.add(.rcx, 64)
    a.add(.r8, 32)
    a.decrement(.r9)
    a.jump(.notEqual, nextBlock)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// The register of the weight of the row below.
  private static let weight = 0

  /// Sixteen columns of the planes at `r10` and `r11`, interpolated.
  private func interpolate(_ a: inout X86Assembler, to values: [Int]) {
    for (half, above) in values.enumerated() {
      let below = 12 + half
      a.vector(.vmovups, .ymm, above, 0, Memory(.r10, 32 * half))
      a.vector(.vmovups, .ymm, below, 0, Memory(.r11, 32 * half))
      a.vector(.vsubps, .ymm, below, below, above)
      a.vector(.vmulps, .ymm, below, below, Self.weight)
      a.vector(.vaddps, .ymm, above, below, above)
    }
  }
}

/// Generates the counting of classes.
struct X86ClassCountGenerator: CodeGenerator, Hashable {
  private typealias A = GridCode.Counts
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.classes)))
    a.load(.rcx, .init(.rdi, A.offset(\.counters)))
    a.load(.r9, .init(.rdi, A.offset(\.count)))
    let next = a.loopHead()
    a.loadWord(.r10, Memory(.rax))
    a.load(.r11, Memory(.rcx, index: .r10, scale: 8))
    a.add(.r11, 1)
    a.store(Memory(.rcx, index: .r10, scale: 8), .r11)
    a.add(.rax, 2)
    a.decrement(.r9)
    a.jump(.notEqual, next)
    a.return()
    return a.finish()
  }
}
