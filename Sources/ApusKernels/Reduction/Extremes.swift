// SPDX-License-Identifier: Apache-2.0

/// An element type that is compared sixteen at a time. Each type repeats the implementation, because vector
/// comparisons are single instructions for concrete types and loops over lanes for generic ones.
protocol ExtremeElement: SIMDScalar, BitwiseCopyable, Codable, Comparable, Hashable {
  /// Lane by lane, the second if it is greater (or less), otherwise the first.
  static func extreme(_ first: SIMD16<Self>, _ second: SIMD16<Self>, isGreatest: Bool) -> SIMD16<Self>
}

extension Float: ExtremeElement {
  @inline(__always)
  static func extreme(_ first: SIMD16<Self>, _ second: SIMD16<Self>, isGreatest: Bool) -> SIMD16<Self> {
    first.replacing(with: second, where: isGreatest ? second .> first : second .< first)
  }
}

extension Int8: ExtremeElement {
  @inline(__always)
  static func extreme(_ first: SIMD16<Self>, _ second: SIMD16<Self>, isGreatest: Bool) -> SIMD16<Self> {
    first.replacing(with: second, where: isGreatest ? second .> first : second .< first)
  }
}

extension UInt8: ExtremeElement {
  @inline(__always)
  static func extreme(_ first: SIMD16<Self>, _ second: SIMD16<Self>, isGreatest: Bool) -> SIMD16<Self> {
    first.replacing(with: second, where: isGreatest ? second .> first : second .< first)
  }
}

extension Int16: ExtremeElement {
  @inline(__always)
  static func extreme(_ first: SIMD16<Self>, _ second: SIMD16<Self>, isGreatest: Bool) -> SIMD16<Self> {
    first.replacing(with: second, where: isGreatest ? second .> first : second .< first)
  }
}

extension Int32: ExtremeElement {
  @inline(__always)
  static func extreme(_ first: SIMD16<Self>, _ second: SIMD16<Self>, isGreatest: Bool) -> SIMD16<Self> {
    first.replacing(with: second, where: isGreatest ? second .> first : second .< first)
  }
}

extension Int64: ExtremeElement {
  @inline(__always)
  static func extreme(_ first: SIMD16<Self>, _ second: SIMD16<Self>, isGreatest: Bool) -> SIMD16<Self> {
    first.replacing(with: second, where: isGreatest ? second .> first : second .< first)
  }
}

/// Maximum or minimum, sixteen at a time.
protocol Extremes: Combination where Element: ExtremeElement, Result == Element {
  static func combine(_ results: SIMD16<Element>, _ elements: SIMD16<Element>) -> SIMD16<Element>
}

extension Extremes {
  @inline(__always)
  static func combine(_ result: Element, _ row: UnsafePointer<Element>, count: Int) -> Element {
    var result = result
    var index = 0
    if count >= 16 {
      var lanes = SIMD16<Element>(repeating: result)
      while true {
        lanes = unsafe combine(
          lanes, UnsafeRawPointer(row + index).loadUnaligned(as: SIMD16<Element>.self))
        if index &+ 16 == count { break }
        // Overlap makes no difference.
        index = min(index &+ 16, count &- 16)
      }
      for lane in 0..<16 { result = combine(result, lanes[lane]) }
      return result
    }
    while index < count {
      result = unsafe combine(result, row[index])
      index &+= 1
    }
    return result
  }

  @inline(__always)
  static func combineColumns(
    _ results: UnsafeMutablePointer<Element>, _ elements: UnsafePointer<Element>, stride: Int, rows: Int,
    columns: Int
  ) {
    var column = 0
    // 64 columns at a time: each cache line is read once, and comparisons do not wait for each other.
    while column &+ 64 <= columns {
      let place = unsafe UnsafeMutableRawPointer(results + column)
      let part = MemoryLayout<SIMD16<Element>>.stride
      @inline(__always)
      func sixteen(_ address: UnsafeRawPointer, _ index: Int) -> SIMD16<Element> {
        unsafe address.loadUnaligned(fromByteOffset: index &* part, as: SIMD16<Element>.self)
      }
      var (first, second) = unsafe (sixteen(place, 0), sixteen(place, 1))
      var (third, fourth) = unsafe (sixteen(place, 2), sixteen(place, 3))
      for row in 0..<rows {
        let line = unsafe UnsafeRawPointer(elements + (row &* stride &+ column))
        first = unsafe combine(first, sixteen(line, 0))
        second = unsafe combine(second, sixteen(line, 1))
        third = unsafe combine(third, sixteen(line, 2))
        fourth = unsafe combine(fourth, sixteen(line, 3))
      }
      unsafe place.storeBytes(of: first, as: SIMD16<Element>.self)
      unsafe place.storeBytes(of: second, toByteOffset: part, as: SIMD16<Element>.self)
      unsafe place.storeBytes(of: third, toByteOffset: 2 &* part, as: SIMD16<Element>.self)
      unsafe place.storeBytes(of: fourth, toByteOffset: 3 &* part, as: SIMD16<Element>.self)
      column &+= 64
    }
    while column &+ 16 <= columns {
      let place = unsafe UnsafeMutableRawPointer(results + column)
      var lanes = unsafe place.loadUnaligned(as: SIMD16<Element>.self)
      for row in 0..<rows {
        let line = unsafe UnsafeRawPointer(elements + (row &* stride &+ column))
        lanes = unsafe combine(lanes, line.loadUnaligned(as: SIMD16<Element>.self))
      }
      unsafe place.storeBytes(of: lanes, as: SIMD16<Element>.self)
      column &+= 16
    }
    guard column < columns else { return }
    for row in 0..<rows {
      let line = unsafe elements + row &* stride
      for column in column..<columns { unsafe results[column] = combine(results[column], line[column]) }
    }
  }
}

enum Maximum<Element: ExtremeElement>: Extremes {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element {
    element > result ? element : result
  }

  @inline(__always)
  static func combine(_ results: SIMD16<Element>, _ elements: SIMD16<Element>) -> SIMD16<Element> {
    Element.extreme(results, elements, isGreatest: true)
  }
}

enum Minimum<Element: ExtremeElement>: Extremes {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element {
    element < result ? element : result
  }

  @inline(__always)
  static func combine(_ results: SIMD16<Element>, _ elements: SIMD16<Element>) -> SIMD16<Element> {
    Element.extreme(results, elements, isGreatest: false)
  }
}
