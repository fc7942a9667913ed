// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code that transposes matrices of elements of 1, 2 or 4 bytes, in parts of sixteen rows.
package struct TranspositionCode: Sendable {
  /// The arguments: addresses, and bytes between rows.
  package struct Arguments: CodeArguments {
    package var source: Int
    package var sourceStride: Int
    package var target: Int
    package var targetStride: Int
    /// The number of parts of sixteen bytes in a row.
    package var parts: Int
    /// The distance from the results of a part to those of the next, in bytes.
    package var targetStep: Int
  }

  /// The rows of a part.
  static let rows = 16
  /// The bytes of its rows.
  package static let byteCount = 16

  /// Transposes parts of sixteen rows.
  package let function: CodeFunction<Arguments>
  /// The size of an element.
  package let width: Int

  /// A function for elements of `width` bytes.
  package init(function: CodeFunction<Arguments>, width: Int) {
    self.function = function
    self.width = width
  }

  /// The columns of a part.
  var columns: Int { Self.byteCount / width }

  /// Transposes `parts` parts of sixteen rows.
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
  /// The bytes of a row of the result that are written consecutively: a cache line.
  private static let lineByteCount = 64
  /// The number of parts that are read from some rows before the next rows.
  private static let partsAtOnce = 8

  /// Whether the inner two loops, of elements of `width` bytes, transpose a matrix of at least one part.
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
