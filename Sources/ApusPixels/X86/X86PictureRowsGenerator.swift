// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates weighted sums of neighboring rows of bytes; stores the high 16 bits and the low byte of each sum
/// separately.
///
/// Bytes are widened and two rows are interleaved, so that one `vpmaddwd` adds both. Weights stay in
/// registers.
struct X86PictureRowsGenerator: CodeGenerator, Hashable {
  let target: X86Target
  /// The number of rows, up to ``maximumTaps``.
  let taps: Int

  /// The maximum number of rows whose weights fit in registers.
  static let maximumTaps = 16

  private typealias A = PictureCode.Rows
  private typealias Memory = X86Assembler.Memory
  /// Each register addresses three rows.
  private static let places: [X86Assembler.General] = [.rax, .rcx, .rdx, .rsi, .r8, .r9]

  /// Bytes per iteration.
  var block: Int { target.width.byteCount / 2 }

  func generate() -> [UInt8]? {
    guard (1...Self.maximumTaps).contains(taps) else { return nil }
    let (width, pairs) = (target.width, (taps + 1) / 2)
    let places = Self.places.prefix((taps + 2) / 3)
    let (upper, lower, even, odd, mask, zero, weights) = (0, 1, 2, 3, 6, 7, 8)
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.push(.rbx)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.r10, .init(.rdi, A.offset(\.bytesPerRow)))
    for (place, next) in zip(places, places.dropFirst()) {
      a.address(next, Memory(place, index: .r10, scale: 2))
      a.add(next, .r10)
    }
    a.load(.r11, .init(.rdi, A.offset(\.weights)))
    for pair in 0..<pairs { a.vector(.vpbroadcastd, width, weights + pair, 0, Memory(.r11, 4 * pair)) }
    a.vector(.vpbroadcastd, width, mask, 0, Memory(.rdi, A.offset(\.lowByte)))
    a.zeroVector(zero, width)
    a.load(.r11, .init(.rdi, A.offset(\.high)))
    a.load(.rbx, .init(.rdi, A.offset(\.blocks)))
    a.load(.rdi, .init(.rdi, A.offset(\.low)))
    let next = a.loopHead()
    for pair in 0..<pairs {
      let isWhole = 2 * pair + 1 < taps
      a.vector(.vpmovzxbw, width, upper, 0, row(2 * pair))
      if isWhole { a.vector(.vpmovzxbw, width, lower, 0, row(2 * pair + 1)) }
      for (half, instruction) in [X86Assembler.Instruction.vpunpcklwd, .vpunpckhwd].enumerated() {
        a.vector(instruction, width, even + half, upper, isWhole ? lower : zero)
        let sum = 4 + half
        if pair == 0 {
          a.vector(.vpmaddwd, width, sum, even + half, weights)
        } else {
          a.vector(.vpmaddwd, width, even + half, even + half, weights + pair)
          a.vector(.vpaddd, width, sum, sum, even + half)
        }
      }
    }
    for half in 0..<2 { a.shift(.shiftDoubles, digit: 4, width, even + half, 4 + half, by: 8) }
    a.vector(.vpackssdw, width, even, even, odd)
    a.vector(.vmovdquStore, width, even, 0, Memory(.r11))
    for half in 0..<2 { a.vector(.vpand, width, 4 + half, 4 + half, mask) }
    a.vector(.vpackssdw, width, 4, 4, 5)
    a.vector(.vmovdquStore, width, 4, 0, Memory(.rdi))
    for place in places { a.add(place, block) }
    a.add(.r11, 2 * block)
    a.add(.rdi, 2 * block)
    a.decrement(.rbx)
    a.jump(.notEqual, next)
    a.pop(.rbx)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  private func row(_ number: Int) -> Memory {
    let place = Self.places[number / 3]
    return number % 3 == 0 ? Memory(place) : Memory(place, index: .r10, scale: number % 3)
  }
}
