// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// Converts rows of a picture's region from luma and chroma to four bytes a pixel, as a resize reads them.
struct LumaChromaRows: Sendable {
  let picture: LumaChroma
  /// The first row and the first column, which is even, of what is converted.
  private let row: Int
  private let column: Int
  /// The number of columns, which is even.
  private let columns: Int
  /// The distance between converted rows in bytes; loads may go eight bytes beyond the last pixel.
  let stride: Int
  private let code: CodeFunction<PictureCode.LumaChromaRow>?
  /// Pixels per iteration of the code.
  private let block: Int
  private let constants: [UInt8]

  /// Prepares the conversion of a region.
  init(_ picture: LumaChroma, x: Int, y: Int, width: Int, kernels: KernelSet) {
    self.picture = picture
    row = y
    column = x & ~1
    columns = roundedUp(x + width, to: 2) - column
    stride = roundedUp(4 * columns + 8, to: PictureScratch.alignment)
    if let target = kernels.pictureTarget {
      let generator = X86LumaChromaGenerator(target: target, form: picture.form)
      code = try? unsafe CodeFunction(generator)
      (block, constants) = (generator.block, generator.constants(picture.colors))
    } else {
      (code, block, constants) = (nil, 1, [])
    }
  }

  /// Converts a row of the region.
  func convert(_ index: Int, of bytes: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) {
    let row = self.row &+ index
    let steps = picture.steps
    let chromaRow = row / picture.rowsPerChroma &* picture.chromaStride &+ column / 2 &* steps.chroma
    let luma = unsafe bytes + picture.luma + row &* picture.lumaStride + column &* steps.luma
    let (u, v) = unsafe (bytes + picture.u + chromaRow, bytes + picture.v + chromaRow)
    guard let code, columns >= block else {
      unsafe picture.colors.convertRow(luma: luma, u: u, v: v, steps: steps, count: columns, to: target)
      return
    }
    // The first of the samples that alternate.
    let first =
      switch picture.form {
      case .semiplanar(let isVFirst): unsafe isVFirst ? v : u
      case .planar, .packed: unsafe u
      }
    unsafe constants.withUnsafeBufferPointer { constants in
      func call(_ offset: Int, _ blocks: Int) {
        // The rows of packed samples begin with a pair, whatever comes first in it.
        let start = unsafe luma - picture.luma + offset &* steps.luma
        unsafe code.call(
          PictureCode.LumaChromaRow(
            luma: Int(bitPattern: start), first: Int(bitPattern: first + offset / 2 &* steps.chroma),
            second: Int(bitPattern: v + offset / 2 &* steps.chroma),
            target: Int(bitPattern: target + 4 &* offset), blocks: blocks,
            constants: Int(bitPattern: constants.baseAddress)))
      }
      call(0, columns / block)
      // The rest is converted together with pixels before it.
      if !columns.isMultiple(of: block) { call(columns - block, 1) }
    }
  }
}
