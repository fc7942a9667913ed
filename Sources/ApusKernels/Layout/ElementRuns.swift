// SPDX-License-Identifier: Apache-2.0

/// Copies runs of bytes at equal distances.
package enum ElementRuns {
  /// Copies `count` runs of `byteCount` bytes; a step of zero repeats one run.
  package static func copy(
    from source: RawSpan, at sourceStart: Int, step sourceStep: Int, to target: inout MutableRawSpan,
    at targetStart: Int, step targetStep: Int, byteCount: Int, count: Int
  ) {
    guard count > 0, byteCount > 0 else { return }
    precondition(
      sourceStart >= 0 && sourceStep >= 0 && targetStart >= 0 && targetStep >= 0
        && sourceStart + (count - 1) * sourceStep + byteCount <= source.byteCount
        && targetStart + (count - 1) * targetStep + byteCount <= target.byteCount)
    unsafe source.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        guard let source = source.baseAddress, let target = target.baseAddress else { return }
        let from = unsafe source + sourceStart
        let to = unsafe target + targetStart
        // A call for each few bytes would cost more than their copy.
        switch byteCount {
        case 1: unsafe copy(UInt8.self, from, sourceStep, to, targetStep, count)
        case 2: unsafe copy(UInt16.self, from, sourceStep, to, targetStep, count)
        case 4: unsafe copy(UInt32.self, from, sourceStep, to, targetStep, count)
        case 8: unsafe copy(UInt64.self, from, sourceStep, to, targetStep, count)
        case 16: unsafe copy(SIMD2<UInt64>.self, from, sourceStep, to, targetStep, count)
        default:
          for index in 0..<count {
            unsafe (to + index &* targetStep).copyMemory(
              from: from + index &* sourceStep, byteCount: byteCount)
          }
        }
      }
    }
  }

  @inline(__always)
  private static func copy<T: BitwiseCopyable>(
    _ type: T.Type, _ from: UnsafeRawPointer, _ sourceStep: Int, _ to: UnsafeMutableRawPointer,
    _ targetStep: Int, _ count: Int
  ) {
    for index in 0..<count {
      let element = unsafe (from + index &* sourceStep).loadUnaligned(as: T.self)
      unsafe (to + index &* targetStep).storeBytes(of: element, as: T.self)
    }
  }

  /// Writes the transpose of each of `count` matrices of `rows × columns` elements of `width` bytes, 1, 2 or 4.
  package static func transpose(
    _ source: RawSpan, rows: Int, columns: Int, count: Int, width: Int, into target: inout MutableRawSpan
  ) {
    let byteCount = rows * columns * count * width
    precondition(source.byteCount >= byteCount && target.byteCount >= byteCount)
    guard byteCount > 0 else { return }
    unsafe source.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        guard let source = source.baseAddress, let target = target.baseAddress else { return }
        for matrix in 0..<count {
          let offset = matrix &* rows &* columns &* width
          switch width {
          case 1: unsafe transpose(source + offset, target + offset, rows, columns, UInt8.self)
          case 2: unsafe transpose(source + offset, target + offset, rows, columns, UInt16.self)
          default: unsafe transpose(source + offset, target + offset, rows, columns, UInt32.self)
          }
        }
      }
    }
  }

  /// In blocks that stay in the cache.
  @inline(__always)
  private static func transpose<T: BitwiseCopyable>(
    _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ rows: Int, _ columns: Int, _ type: T.Type
  ) {
    let from = unsafe source.assumingMemoryBound(to: T.self)
    let to = unsafe target.assumingMemoryBound(to: T.self)
    if rows == 3 {
      // Planes of colors: a loop over three rows would cost more than its work.
      let (second, third) = unsafe (from + columns, from + 2 &* columns)
      for column in 0..<columns {
        let place = unsafe to + 3 &* column
        unsafe place[0] = from[column]
        unsafe place[1] = second[column]
        unsafe place[2] = third[column]
      }
      return
    }
    var first = 0
    while first < rows {
      let last = min(rows, first &+ 32)
      for column in 0..<columns {
        for row in first..<last {
          unsafe to[column &* rows &+ row] = from[row &* columns &+ column]
        }
      }
      first = last
    }
  }
}
