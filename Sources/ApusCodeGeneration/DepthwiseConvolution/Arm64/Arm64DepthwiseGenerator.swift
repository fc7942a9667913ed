// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates depthwise convolutions: a few pixels times 16 channels, with accumulators in registers.
///
/// Taps come in groups: four for bytes, one for floats. A list has the offset of each tap of each group,
/// relative to a pixel's first byte.
package struct Arm64DepthwiseGenerator: CodeGenerator, Hashable {
  package let target: Arm64Target
  package let product: ProductKind
  /// The epilogue; it has the number of pixels.
  package let end: Arm64EpilogueGenerator

  private typealias General = Arm64Assembler.General
  private typealias A = ConvolutionArguments

  private static let pixelRegisters: [General] = [.x8, .x9, .x10, .x11]
  private static let offsets: [General] = [.x12, .x13, .x14, .x15]

  private var pixels: [General] { Array(Self.pixelRegisters.prefix(end.rowCount)) }
  private func weights(_ index: Int) -> Int { end.free(index) }
  private func tap(_ index: Int) -> Int { end.free(4 + index) }
  private func spare(_ index: Int) -> Int { end.free(8 + index) }
  private var signFlip: Int { 31 }

  package func generate() -> [UInt8]? {
    var a = Arm64Assembler()
    a.enter()
    a.load(.x7, .x0, A.offset(\.rows))
    a.load(.x6, .x0, A.offset(\.output))
    a.load(.x19, .x0, A.offset(\.blocks))
    a.load(.x1, .x0, A.offset(\.rowStride))
    if product == .unsignedBytes { a.fill(signFlip, 0x80) }

    let nextBlock = a.placeLabel()
    for sum in 0..<pixels.count * 4 { a.fill(sum, 0) }
    a.load(.x2, .x0, A.offset(\.taps))
    a.load(.x3, .x0, A.offset(\.tapCount))
    a.load(.x4, .x0, A.offset(\.weights))
    a.move(pixels[0], .x7)
    for pixel in pixels.indices.dropFirst() { a.add(pixels[pixel], pixels[pixel - 1], .x1) }

    let nextGroup = a.placeLabel()
    group(&a)
    a.subtractSettingFlags(.x3, .x3, 1)
    a.branch(.notEqual, nextGroup)

    end.finishBlock(&a, pixels)
    a.subtractSettingFlags(.x19, .x19, 1)
    a.branch(.notEqual, nextBlock)
    a.leave()
    return a.finish()
  }

  /// Multiplies one group of taps for all pixels.
  private func group(_ a: inout Arm64Assembler) {
    if product == .floats {
      a.load(Self.offsets[0], .x2, step: 8)
    } else {
      a.loadPair(Self.offsets[0], Self.offsets[1], .x2, step: 16)
      a.loadPair(Self.offsets[2], Self.offsets[3], .x2, step: 16)
    }
    if product != .floats, target == .neon {
      // A channel's four weights go to four registers, one per tap.
      a.loadInterleaved(weights(0), .x4)
    } else {
      a.loadPair(weights(0), weights(1), .x4, step: 32)
      a.loadPair(weights(2), weights(3), .x4, step: 32)
    }
    for (pixel, base) in pixels.enumerated() {
      if product == .floats {
        floats(&a, pixel, base)
      } else {
        bytes(&a, pixel, base)
      }
    }
  }

  private func floats(_ a: inout Arm64Assembler, _ pixel: Int, _ base: General) {
    a.add(.x16, base, Self.offsets[0])
    a.loadPair(tap(0), tap(1), .x16)
    a.loadPair(tap(2), tap(3), .x16, 32)
    for vector in 0..<4 { a.vector(.fmla, end.sum(pixel, vector), tap(vector), weights(vector)) }
  }

  private func bytes(_ a: inout Arm64Assembler, _ pixel: Int, _ base: General) {
    for index in 0..<4 { a.load(.q, tap(index), base, index: Self.offsets[index]) }
    if product == .unsignedBytes {
      for index in 0..<4 { a.vector(.eor, tap(index), tap(index), signFlip) }
    }
    if target == .neon {
      multiplyWithoutDotProduct(&a, pixel)
      return
    }
    a.vector(.zip1Bytes, spare(0), tap(0), tap(1))
    a.vector(.zip2Bytes, spare(1), tap(0), tap(1))
    a.vector(.zip1Bytes, spare(2), tap(2), tap(3))
    a.vector(.zip2Bytes, spare(3), tap(2), tap(3))
    for half in 0..<2 {
      a.vector(.zip1Words, tap(2 * half), spare(half), spare(2 + half))
      a.vector(.zip2Words, tap(2 * half + 1), spare(half), spare(2 + half))
    }
    for vector in 0..<4 { a.vector(.sdot, end.sum(pixel, vector), tap(vector), weights(vector)) }
  }

  /// Multiplies without DotProd: adds two taps in 16 bits, which cannot overflow because of
  /// ``Arm64Target/weightBounds``, then in 32 bits.
  private func multiplyWithoutDotProduct(_ a: inout Arm64Assembler, _ pixel: Int) {
    for pair in [0, 2] {
      let (low, high) = (spare(pair), spare(pair + 1))
      a.vector(.smull, low, tap(pair), weights(pair))
      a.vector(.smull2, high, tap(pair), weights(pair))
      a.vector(.smlal, low, tap(pair + 1), weights(pair + 1))
      a.vector(.smlal2, high, tap(pair + 1), weights(pair + 1))
      a.vector(.saddw, end.sum(pixel, 0), end.sum(pixel, 0), low)
      a.vector(.saddw2, end.sum(pixel, 1), end.sum(pixel, 1), low)
      a.vector(.saddw, end.sum(pixel, 2), end.sum(pixel, 2), high)
      a.vector(.saddw2, end.sum(pixel, 3), end.sum(pixel, 3), high)
    }
  }
}
