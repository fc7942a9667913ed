// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates depthwise convolutions: a few pixels times a block of channels, with accumulators in registers.
///
/// Taps come in groups: four for bytes, which are interleaved so that one instruction adds four products to
/// each channel; two for `int16`; one for floats. A list has the offset of each tap of each group, relative
/// to a pixel's first byte.
struct X86DepthwiseGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let product: ProductKind
  let epilogue: X86EpilogueGenerator.Outputs
  let pixelCount: Int
  /// The number of channels that are stored.
  let channelCount: Int

  private typealias General = X86Assembler.General
  private typealias A = ConvolutionArguments

  private var vectorCount: Int { target.depthwiseVectors(product) }
  private var width: X86Assembler.Width { target.width }
  private var end: X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: target, outputs: epilogue, rowCount: pixelCount, vectorCount: vectorCount,
      columnCount: channelCount)
  }
  private var signFlip: Int { target == .avx512 ? 31 : 15 }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.enter()
    end.loadMasks(&a)
    if product == .signedBytes {
      a.load(.rdx, .init(.rdi, A.offset(\.factors)))
      a.vector(.vpbroadcastd, width, signFlip, 0, .init(.rdx, X86FactorLayout(target).signFlip))
    }

    let nextBlock = a.loopHead(alignment: 16)
    end.begin(&a)
    end.loadStride(&a, A.offset(\.rowStride))
    let pixels: [General] = [.r8, .rax, .rbx, .rbp]
    for pixel in 1..<max(pixelCount, 1) { a.address(pixels[pixel], end.place(.r8, pixel)) }
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))

    let nextGroup = a.loopHead()
    group(&a, Array(pixels.prefix(pixelCount)))
    a.decrement(.r13)
    a.jump(.notEqual, nextGroup)

    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    a.move(.rax, .r14)
    end.loadStride(&a, A.offset(\.outputStride))
    if case .scaledFloats = epilogue { orderSums(&a) }
    end.store(&a, [.rax])
    end.pointAfterLast(&a, .rax, .r14)
    end.loadStride(&a, A.offset(\.rowStride))
    a.move(.rax, .r8)
    end.pointAfterLast(&a, .rax, .r8)
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)

    a.leave()
    return a.finish()
  }

  /// Sorts the sums of two vectors, which interleaved `int16` products leave in quarters, by channel.
  private func orderSums(_ a: inout X86Assembler) {
    for pixel in 0..<pixelCount {
      let (first, second) = (end.sum(pixel, 0), end.sum(pixel, 1))
      if target == .avx512 {
        // Quarters 0 and 1 of both, then 2 and 3; then the second and third of these are swapped.
        let (low, high) = (end.free(0), end.free(1))
        a.vector(.vshufi32x4, width, low, first, second, immediate: 0x44)
        a.vector(.vshufi32x4, width, high, first, second, immediate: 0xEE)
        a.vector(.vshufi32x4, width, first, low, low, immediate: 0xD8)
        a.vector(.vshufi32x4, width, second, high, high, immediate: 0xD8)
        continue
      }
      a.vector(.vperm2i128, width, end.free(0), first, second, immediate: 0x20)
      a.vector(.vperm2i128, width, second, first, second, immediate: 0x31)
      a.vector(.vmovdqu, width, first, 0, end.free(0))
    }
  }

  /// Multiplies one group of taps for all pixels.
  private func group(_ a: inout X86Assembler, _ pixels: [General]) {
    let offsets = Array([General.rcx, .rdx, .r9, .r10].prefix(product.depthPerStep))
    for (tap, register) in offsets.enumerated() { a.load(register, .init(.r12, 8 * tap)) }
    a.add(.r12, 8 * offsets.count)
    let weights = (0..<vectorCount).map { end.free($0) }
    for (vector, register) in weights.enumerated() {
      a.vector(.vmovdqu, width, register, 0, .init(.rsi, vector * width.byteCount))
    }
    a.add(.rsi, vectorCount * width.byteCount)
    for (pixel, base) in pixels.enumerated() {
      switch product {
      case .unsignedBytes, .signedBytes: bytes(&a, pixel, base, offsets, weights)
      case .words: words(&a, pixel, base, offsets, weights)
      case .floats, .bfloat16, .bfloat16AsFloats, .bfloat16Tiles:
        for vector in 0..<vectorCount {
          let place = X86Assembler.Memory(base, index: offsets[0], vector * width.byteCount)
          a.vector(.vfmadd231ps, width, end.sum(pixel, vector), weights[vector], place)
        }
      }
    }
  }

  private func bytes(
    _ a: inout X86Assembler, _ pixel: Int, _ base: General, _ offsets: [General], _ weights: [Int]
  ) {
    let taps = (0..<4).map { end.free(vectorCount + $0) }
    let pairs = (0..<4).map { end.free(vectorCount + 4 + $0) }
    for (tap, offset) in offsets.enumerated() {
      let place = X86Assembler.Memory(base, index: offset)
      if product == .signedBytes {
        a.vector(.vpxor, width, taps[tap], signFlip, place)
      } else {
        a.vector(.vmovdqu, width, taps[tap], 0, place)
      }
    }
    a.vector(.vpunpcklbw, width, pairs[0], taps[0], taps[1])
    a.vector(.vpunpckhbw, width, pairs[1], taps[0], taps[1])
    a.vector(.vpunpcklbw, width, pairs[2], taps[2], taps[3])
    a.vector(.vpunpckhbw, width, pairs[3], taps[2], taps[3])
    a.vector(.vpunpcklwd, width, taps[0], pairs[0], pairs[2])
    a.vector(.vpunpckhwd, width, taps[1], pairs[0], pairs[2])
    a.vector(.vpunpcklwd, width, taps[2], pairs[1], pairs[3])
    a.vector(.vpunpckhwd, width, taps[3], pairs[1], pairs[3])
    for vector in 0..<4 {
      a.vector(.vpdpbusd, width, end.sum(pixel, vector), taps[vector], weights[vector])
    }
  }

  private func words(
    _ a: inout X86Assembler, _ pixel: Int, _ base: General, _ offsets: [General], _ weights: [Int]
  ) {
    let taps = (0..<2).map { end.free(vectorCount + $0) }
    let pairs = (0..<2).map { end.free(vectorCount + 2 + $0) }
    for (tap, offset) in offsets.enumerated() {
      a.vector(.vmovdqu, width, taps[tap], 0, .init(base, index: offset))
    }
    a.vector(.vpunpcklwd, width, pairs[0], taps[0], taps[1])
    a.vector(.vpunpckhwd, width, pairs[1], taps[0], taps[1])
    if target == .avx512 {
      for vector in 0..<2 {
        a.vector(.vpdpwssd, width, end.sum(pixel, vector), pairs[vector], weights[vector])
      }
      return
    }
    for vector in 0..<2 { a.vector(.vpmaddwd, width, pairs[vector], pairs[vector], weights[vector]) }
    for vector in 0..<2 {
      a.vector(.vpaddd, width, end.sum(pixel, vector), end.sum(pixel, vector), pairs[vector])
    }
  }
}
