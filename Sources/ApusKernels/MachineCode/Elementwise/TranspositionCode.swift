// SPDX-License-Identifier: Apache-2.0

/// Generated code that transposes matrices of elements of 1, 2 or 4 bytes, in parts of sixteen rows.
package struct TranspositionCode: Sendable {
  /// The arguments: addresses, and bytes between rows.
  struct Arguments: CodeArguments {
    var source: Int
    var sourceStride: Int
    var target: Int
    var targetStride: Int
    /// How many parts of sixteen bytes a row has.
    var parts: Int
    /// From where the columns of a part go to where those of the next do.
    var targetStep: Int
  }

  /// The rows of a part.
  static let rows = 16
  /// The bytes of its rows.
  static let byteCount = 16

  let function: CodeFunction<Arguments>
  let width: Int

  /// The columns of a part.
  var columns: Int { Self.byteCount / width }

  /// Transposes sixteen rows of so many parts.
  @inline(__always)
  func transpose(
    _ source: UnsafeRawPointer, stride sourceStride: Int, parts: Int, to target: UnsafeMutableRawPointer,
    stride targetStride: Int
  ) {
    function.call(
      Arguments(
        source: Int(bitPattern: source), sourceStride: sourceStride, target: Int(bitPattern: target),
        targetStride: targetStride, parts: parts, targetStep: columns &* targetStride))
  }
}

extension TranspositionCode {
  /// The bytes of a row of the result that are written one after the other: a line of the cache.
  private static let lineByteCount = 64
  /// How many parts of rows are read before the next rows are.
  private static let partsAtOnce = 8

  /// Whether the inner two of some loops, which copy elements of so many bytes, transpose a matrix that is large enough.
  static func serves(_ loops: [StridedCopy.Loop], width: Int) -> Bool {
    guard loops.count > 1, width == 1 || width == 2 || width == 4 else { return false }
    let (outer, inner) = (loops[loops.count - 2], loops[loops.count - 1])
    return outer.source == width && inner.destination == width && inner.source != width
      && inner.count >= rows && outer.count >= byteCount / width
  }

  /// Transposes a matrix whose rows the outer loop reads and the inner one writes without gaps; the last parts of a row and of a
  /// column overlap those before. False, with nothing done, where it is smaller than a part.
  func transpose(
    _ outer: StridedCopy.Loop, _ inner: StridedCopy.Loop, _ source: UnsafeRawPointer,
    _ destination: UnsafeMutableRawPointer
  ) -> Bool {
    guard outer.count >= columns, inner.count >= Self.rows else { return false }
    let parts = outer.count / columns
    let lines = Self.lineByteCount / width
    /// Transposes parts of columns for rows of the matrix that make up a line of the result.
    func transposeParts(column: Int, _ parts: Int, rows: Range<Int>) {
      var row = rows.lowerBound
      while row < rows.upperBound {
        let first = min(row, inner.count &- Self.rows)
        unsafe transpose(
          source + (column &* width &+ first &* inner.source), stride: inner.source, parts: parts,
          to: destination + (column &* outer.destination &+ first &* width), stride: outer.destination)
        row &+= Self.rows
      }
    }
    var row = 0
    while row < inner.count {
      let rows = row..<min(row &+ lines, inner.count)
      var part = 0
      while part < parts {
        let count = min(Self.partsAtOnce, parts &- part)
        transposeParts(column: part &* columns, count, rows: rows)
        part &+= count
      }
      if parts &* columns < outer.count { transposeParts(column: outer.count &- columns, 1, rows: rows) }
      row &+= lines
    }
    return true
  }
}
