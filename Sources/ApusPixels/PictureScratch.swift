// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The layout of a thread's scratch memory in a resize.
struct PictureScratch {
  static let alignment = 64

  /// Converted rows of luma and chroma: as many as a result reads.
  let converted: Int
  /// Copies of two rows at the picture's end, because loads may go eight bytes beyond a row.
  let copies: Int
  /// The size of such a copy.
  let copyLength: Int
  /// For `blend`: the pixels of two source rows for the columns, eight bytes each.
  let gathered: Int
  /// The size of a row of gathered pixels.
  let gatheredLength: Int
  /// The high 16 bits of a row's sums, and their low bytes as `int16`.
  let high: Int
  let low: Int
  /// The high 16 bits of neighboring pixels, interleaved.
  let pairs: Int
  /// Sums of columns in plain Swift, four values each.
  let sums: Int
  /// The results of a row, four bytes each.
  let line: Int
  /// The size of the scratch memory.
  let byteCount: Int

  init(_ resize: PictureResize) {
    let columns = roundedUp(resize.columns.count, to: 4)
    // Values of sums: a row, the reach of the widest load beyond it, and that of taps without weight.
    let width = resize.method == .sums ? resize.source.rowLength : 0
    let words = width + 64 + 2 * resize.pairCount * resize.source.bytesPerPixel
    var offset = 0
    func take(_ count: Int) -> Int {
      defer { offset += roundedUp(count, to: Self.alignment) }
      return offset
    }
    converted = take(resize.source.conversion.map { resize.rows.maximumTaps * $0.stride } ?? 0)
    copyLength =
      resize.method == .sums || resize.source.conversion != nil
      ? 0 : roundedUp(resize.source.rowLength + 8, to: Self.alignment)
    copies = take(2 * copyLength)
    gatheredLength = resize.method == .blend ? 8 * columns : 0
    gathered = take(2 * gatheredLength)
    high = take(resize.method == .blend ? 16 * columns : 2 * words)
    low = take(resize.method == .blend ? 16 * columns : 2 * words)
    pairs = take(resize.method == .sums ? 4 * words : 0)
    sums = take(16 * columns)
    line = take(4 * columns)
    byteCount = offset
  }
}
