// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates the conversion of rows of luma and chroma to red, green, blue and zero.
///
/// Samples become the upper bytes of 16-bit lanes. They are put in order first, so that the interleaving at the end, which stays within
/// 128 bits, leaves pixels in theirs.
struct X86LumaChromaGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let form: LumaChroma.Form

  private typealias A = PictureCode.LumaChromaRow
  private typealias Memory = X86Assembler.Memory

  /// The vectors that the code reads, in the order of memory; each as wide as a register.
  private enum Constant: Int, CaseIterable {
    /// The order of samples before the conversion, as numbers of doublewords.
    case order
    /// The sign of each byte, or of each upper byte.
    case signs
    case lumaScale
    case bias
    /// The `vpshufb` masks that double the samples of U, and those of V.
    case u
    case v
    case redOfV
    case greenOfU
    case greenOfV
    case blueOfU
    /// The `vpshufb` mask that interleaves eight bytes of red with eight of green.
    case pairs
    case most
    case upperBytes
  }

  private var isPacked: Bool { if case .packed = form { true } else { false } }
  private var width: X86Assembler.Width { target.width }

  /// Pixels per iteration.
  var block: Int { isPacked ? width.byteCount / 2 : width.byteCount }

  /// The constants for some colors.
  func constants(_ colors: LumaChromaColors) -> [UInt8] {
    let isVFirst =
      switch form {
      case .semiplanar(let isVFirst), .packed(_, let isVFirst): isVFirst
      case .planar: false
      }
    let lanes = width.byteCount / 16
    var bytes: [UInt8] = []
    func append(words: (Int) -> UInt16) {
      for index in 0..<width.byteCount / 2 {
        let word = words(index)
        bytes += [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)]
      }
    }
    // The words of a pair's first or second sample, for both pixels.
    func doubled(_ second: Bool) -> (Int) -> UInt16 {
      { index in
        let place = UInt16(index % 8 / 2 * 4 + (second ? 2 : 0))
        return place | (place + 1) << 8
      }
    }
    for constant in Constant.allCases {
      switch constant {
      case .order:
        // Lane l gets part l of each run of parts: a doubleword of bytes, or two of words, are four pixels.
        let run = isPacked ? 2 : 4
        append { index in
          guard index.isMultiple(of: 2) else { return 0 }
          let (lane, part) = (index / 2 / 4, index / 2 % 4)
          return UInt16(
            isPacked ? 2 * (part / run * lanes + lane) + part % run : part * lanes + lane)
        }
      case .signs: append { _ in isPacked ? 0x8000 : 0x8080 }
      case .lumaScale: append { _ in colors.lumaScale }
      case .bias: append { _ in UInt16(bitPattern: colors.bias) }
      case .u: append(words: doubled(isVFirst))
      case .v: append(words: doubled(!isVFirst))
      case .redOfV: append { _ in UInt16(bitPattern: colors.redOfV) }
      case .greenOfU: append { _ in UInt16(bitPattern: colors.greenOfU) }
      case .greenOfV: append { _ in UInt16(bitPattern: colors.greenOfV) }
      case .blueOfU: append { _ in UInt16(bitPattern: colors.blueOfU) }
      case .pairs: append { index in UInt16(index % 8) | UInt16(index % 8 + 8) << 8 }
      case .most: append { _ in 255 }
      case .upperBytes: append { _ in 0xFF00 }
      }
    }
    return bytes
  }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    let (luma, chroma, secondLuma, secondChroma, zero) = (0, 1, 2, 3, 4)
    a.load(.rax, .init(.rdi, A.offset(\.luma)))
    a.load(.rcx, .init(.rdi, A.offset(\.first)))
    a.load(.rdx, .init(.rdi, A.offset(\.second)))
    a.load(.rsi, .init(.rdi, A.offset(\.target)))
    a.load(.r8, .init(.rdi, A.offset(\.blocks)))
    a.load(.r9, .init(.rdi, A.offset(\.constants)))
    a.zeroVector(zero, width)
    let size = width.byteCount
    let next = a.loopHead()
    switch form {
    case .packed(let isLumaFirst, _):
      load(.order, secondLuma, &a)
      a.vector(.vpermd, width, secondLuma, secondLuma, Memory(.rax))
      // The bytes that are lower ones are moved up; the others stay where they are.
      let (lower, upper) = isLumaFirst ? (luma, chroma) : (chroma, luma)
      a.shift(.shiftWords, digit: 6, width, lower, secondLuma, by: 8)
      a.vector(.vpand, width, upper, secondLuma, constant(.upperBytes))
      a.vector(.vpxor, width, chroma, chroma, constant(.signs))
      convert(luma, chroma, zero, to: 0, &a)
      a.add(.rax, size)
    case .planar, .semiplanar:
      load(.order, secondLuma, &a)
      a.vector(.vpermd, width, luma, secondLuma, Memory(.rax))
      if case .planar = form {
        // U and V in turn, as in one plane.
        a.vector(.vpmovzxbw, width, chroma, 0, Memory(.rcx))
        a.vector(.vpmovzxbw, width, secondChroma, 0, Memory(.rdx))
        a.shift(.shiftWords, digit: 6, width, secondChroma, secondChroma, by: 8)
        a.vector(.vpor, width, chroma, chroma, secondChroma)
        a.vector(.vpermd, width, chroma, secondLuma, chroma)
        a.add(.rcx, size / 2)
        a.add(.rdx, size / 2)
      } else {
        a.vector(.vpermd, width, chroma, secondLuma, Memory(.rcx))
        a.add(.rcx, size)
      }
      a.vector(.vpxor, width, chroma, chroma, constant(.signs))
      a.vector(.vpunpckhbw, width, secondLuma, zero, luma)
      a.vector(.vpunpckhbw, width, secondChroma, zero, chroma)
      a.vector(.vpunpcklbw, width, luma, zero, luma)
      a.vector(.vpunpcklbw, width, chroma, zero, chroma)
      convert(luma, chroma, zero, to: 0, &a)
      convert(secondLuma, secondChroma, zero, to: 2 * size, &a)
      a.add(.rax, size)
    }
    a.add(.rsi, 4 * block)
    a.decrement(.r8)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  private func constant(_ constant: Constant) -> Memory {
    Memory(.r9, constant.rawValue * width.byteCount)
  }

  private func load(_ value: Constant, _ register: Int, _ a: inout X86Assembler) {
    a.vector(.vmovdqu, width, register, 0, constant(value))
  }

  /// Converts lanes of luma and chroma, and stores two vectors of pixels.
  private func convert(
    _ luma: Int, _ chroma: Int, _ zero: Int, to offset: Int, _ a: inout X86Assembler
  ) {
    let (u, v, red, green, blue, part) = (5, 6, 7, 8, 9, 10)
    a.vector(.vpmulhuw, width, luma, luma, constant(.lumaScale))
    a.vector(.vpaddw, width, luma, luma, constant(.bias))
    a.vector(.vpshufb, width, u, chroma, constant(.u))
    a.vector(.vpshufb, width, v, chroma, constant(.v))
    a.vector(.vpmulhrsw, width, red, v, constant(.redOfV))
    a.vector(.vpmulhrsw, width, blue, u, constant(.blueOfU))
    a.vector(.vpmulhrsw, width, green, u, constant(.greenOfU))
    a.vector(.vpmulhrsw, width, part, v, constant(.greenOfV))
    a.vector(.vpaddw, width, green, green, part)
    for color in [red, green, blue] {
      // Sums beyond 16 bits are limited to what becomes 0 or 255.
      a.vector(.vpaddsw, width, color, color, luma)
      a.shift(.shiftWords, digit: 4, width, color, color, by: 6)
    }
    a.vector(.vpackuswb, width, red, red, green)
    a.vector(.vpshufb, width, red, red, constant(.pairs))
    a.vector(.vpmaxsw, width, blue, blue, zero)
    a.vector(.vpminsw, width, blue, blue, constant(.most))
    a.vector(.vpunpckhwd, width, green, red, blue)
    a.vector(.vpunpcklwd, width, red, red, blue)
    // The run of pixels that a vector has begins where the order put it.
    a.vector(.vmovdquStore, width, red, 0, Memory(.rsi, offset))
    a.vector(.vmovdquStore, width, green, 0, Memory(.rsi, offset + width.byteCount))
  }
}
