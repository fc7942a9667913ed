// SPDX-License-Identifier: Apache-2.0

/// Where each thread of a resize keeps what it computes for a row.
struct PictureScratch {
  static let alignment = 64

  /// Copies of two rows that end where the picture does: reading may go eight bytes beyond a row.
  let copies: Int
  /// Bytes of such a copy.
  let copyLength: Int
  /// For `blend`, the pixels that two source rows have for the columns, eight bytes for each.
  let gathered: Int
  /// Bytes of a row of those.
  let gatheredLength: Int
  /// High words of the sums of a row, and the low bytes, as words.
  let high: Int
  let low: Int
  /// Neighboring pixels' high words side by side.
  let pairs: Int
  /// Sums of columns, four numbers for each.
  let sums: Int
  /// The results of a row, four bytes each.
  let line: Int
  /// All of it.
  let byteCount: Int

  init(_ resize: PictureResize) {
    let columns = roundedUp(resize.columns.count, to: 4)
    // Words of sums: a row, what the widest load reads beyond it, and what taps without weight reach.
    let width = resize.method == .sums ? resize.source.rowLength : 0
    let words = width + 64 + 2 * resize.pairCount * resize.source.bytesPerPixel
    var offset = 0
    func take(_ count: Int) -> Int {
      defer { offset += roundedUp(count, to: Self.alignment) }
      return offset
    }
    copyLength = resize.method == .sums ? 0 : roundedUp(resize.source.rowLength + 8, to: Self.alignment)
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
