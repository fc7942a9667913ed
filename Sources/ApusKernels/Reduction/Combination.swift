// SPDX-License-Identifier: Apache-2.0

/// A reduction, as a function that combines a result with one more element.
protocol Combination {
  associatedtype Element: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The result after `element`.
  static func combine(_ result: Result, _ element: Element) -> Result

  /// The result after a row of elements.
  static func combine(_ result: Result, _ row: UnsafePointer<Element>, count: Int) -> Result

  /// Whether combining the parts of a row one after the other gives the same result.
  static var takesParts: Bool { get }

  /// Combines rows that are `stride` elements apart column by column; each column has its own result.
  static func combineColumns(
    _ results: UnsafeMutablePointer<Result>, _ elements: UnsafePointer<Element>, stride: Int, rows: Int,
    columns: Int)
}

/// A sum: partial results can be added.
protocol Summation: Combination {
  static var zero: Result { get }
  static func join(_ first: Result, _ second: Result) -> Result
}

extension Summation where Result: FixedWidthInteger {
  @inline(__always)
  static var zero: Result { 0 }
  @inline(__always)
  static func join(_ first: Result, _ second: Result) -> Result { first &+ second }
}

extension Combination {
  @inline(__always)
  static var takesParts: Bool { true }

  @inline(__always)
  static func combine(_ result: Result, _ row: UnsafePointer<Element>, count: Int) -> Result {
    var result = result
    for index in 0..<count { result = unsafe combine(result, row[index]) }
    return result
  }

  @inline(__always)
  static func combineColumns(
    _ results: UnsafeMutablePointer<Result>, _ elements: UnsafePointer<Element>, stride: Int, rows: Int,
    columns: Int
  ) {
    for row in 0..<rows {
      let line = unsafe elements + row &* stride
      for column in 0..<columns { unsafe results[column] = combine(results[column], line[column]) }
    }
  }
}

/// The combinations and bounds of one element type.
protocol Folding {
  associatedtype Element: ExtremeElement
  associatedtype Sum: Combination where Sum.Element == Element, Sum.Result == Element
  associatedtype Product: Combination where Product.Element == Element, Product.Result == Element

  static var zero: Element { get }
  static var one: Element { get }
  static var least: Element { get }
  static var greatest: Element { get }
}

enum FloatFolding: Folding {
  typealias Sum = SumOfFloats
  typealias Product = ApusKernels.Product<Float>
  static var zero: Float { 0 }
  static var one: Float { 1 }
  static var least: Float { -.greatestFiniteMagnitude }
  static var greatest: Float { .greatestFiniteMagnitude }
}

enum IntegerFolding<T: FixedWidthInteger & ExtremeElement>: Folding {
  typealias Sum = WrappingSum<T, T>
  typealias Product = WrappingProduct<T>
  static var zero: T { 0 }
  static var one: T { 1 }
  static var least: T { .min }
  static var greatest: T { .max }
}

/// Bytes of 0 or 1.
enum BooleanFolding: Folding {
  typealias Sum = WrappingSum<UInt8, UInt8>
  typealias Product = WrappingProduct<UInt8>
  static var zero: UInt8 { 0 }
  static var one: UInt8 { 1 }
  static var least: UInt8 { 0 }
  static var greatest: UInt8 { 1 }
}

/// Sums of floats. A row is summed in sixteen lanes; columns are summed 32 at a time.
enum SumOfFloats: Summation {
  @inline(__always)
  static var zero: Float { 0 }
  @inline(__always)
  static func join(_ first: Float, _ second: Float) -> Float { first + second }
  /// The sixteen parts are those of a whole row.
  @inline(__always)
  static var takesParts: Bool { false }

  @inline(__always)
  static func combine(_ result: Float, _ element: Float) -> Float { result + element }

  @inline(__always)
  static func combine(_ result: Float, _ row: UnsafePointer<Float>, count: Int) -> Float {
    var result = result
    var index = 0
    if count >= 16 {
      var (first, second) = (SIMD8<Float>(), SIMD8<Float>())
      while index &+ 16 <= count {
        first += unsafe UnsafeRawPointer(row + index).loadUnaligned(as: SIMD8<Float>.self)
        second += unsafe UnsafeRawPointer(row + (index &+ 8)).loadUnaligned(as: SIMD8<Float>.self)
        index &+= 16
      }
      result += treeSum(first + second)
    }
    while index < count {
      unsafe result += row[index]
      index &+= 1
    }
    return result
  }
}

extension SumOfFloats {
  /// The horizontal add of eight lanes, halves first, in the order of generated code.
  @inline(__always)
  private static func treeSum(_ lanes: SIMD8<Float>) -> Float {
    let four = lanes.lowHalf + lanes.highHalf
    let two = four.lowHalf + four.highHalf
    return two.x + two.y
  }

  @inline(__always)
  static func combineColumns(
    _ results: UnsafeMutablePointer<Float>, _ elements: UnsafePointer<Float>, stride: Int, rows: Int,
    columns: Int
  ) {
    var column = 0
    while column &+ 32 <= columns {
      let place = unsafe UnsafeMutableRawPointer(results + column)
      var (first, second) = unsafe (
        place.loadUnaligned(as: SIMD16<Float>.self),
        place.loadUnaligned(fromByteOffset: 64, as: SIMD16<Float>.self)
      )
      for row in 0..<rows {
        let line = unsafe UnsafeRawPointer(elements + (row &* stride &+ column))
        unsafe first += line.loadUnaligned(as: SIMD16<Float>.self)
        unsafe second += line.loadUnaligned(fromByteOffset: 64, as: SIMD16<Float>.self)
      }
      unsafe place.storeBytes(of: first, as: SIMD16<Float>.self)
      unsafe place.storeBytes(of: second, toByteOffset: 64, as: SIMD16<Float>.self)
      column &+= 32
    }
    guard column < columns else { return }
    for row in 0..<rows {
      let line = unsafe elements + row &* stride
      for column in column..<columns { unsafe results[column] += line[column] }
    }
  }
}

enum Product<Element: BinaryFloatingPoint & BitwiseCopyable>: Combination {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element { result * element }
}

enum WrappingSum<Element: FixedWidthInteger & BitwiseCopyable, Result: FixedWidthInteger & BitwiseCopyable>:
  Summation
{
  @inline(__always)
  static func combine(_ result: Result, _ element: Element) -> Result {
    result &+ Result(truncatingIfNeeded: element)
  }
}

/// Sums of bytes. Columns are summed 64 or 16 at a time, rows 16 at a time.
enum SumOfBytes<Element: FixedWidthInteger & BitwiseCopyable>: Summation {
  @inline(__always)
  static func combine(_ result: Int32, _ element: Element) -> Int32 {
    result &+ Int32(truncatingIfNeeded: element)
  }

  @inline(__always)
  static func combineColumns(
    _ results: UnsafeMutablePointer<Int32>, _ elements: UnsafePointer<Element>, stride: Int, rows: Int,
    columns: Int
  ) {
    let flip: UInt8 = Element.isSigned ? 0x80 : 0
    unsafe addByteColumns(results, elements, stride: stride, rows: rows, columns: columns, flip: flip)
  }

  @inline(__always)
  static func combine(_ result: Int32, _ row: UnsafePointer<Element>, count: Int) -> Int32 {
    let flip: UInt8 = Element.isSigned ? 0x80 : 0
    var result = result
    var index = 0
    while index &+ 16 <= count {
      var sums = ByteSums()
      // 257 bytes sum to less than 2¹⁶.
      let end = min(count, index &+ 16 &* 256)
      while index &+ 16 <= end {
        unsafe sums.add(UnsafeRawPointer(row + index), UInt16(flip) << 8 | UInt16(flip))
        index &+= 16
      }
      result &+= sums.total
    }
    result &-= Int32(truncatingIfNeeded: index) &* Int32(flip)
    while index < count {
      result = unsafe combine(result, row[index])
      index &+= 1
    }
    return result
  }
}

/// Adds the columns of rows of bytes to results, after flipping the bits in `flip`.
private func addByteColumns(
  _ results: UnsafeMutablePointer<Int32>, _ elements: UnsafeRawPointer, stride: Int, rows: Int, columns: Int,
  flip: UInt8
) {
  let flips = UInt16(flip) << 8 | UInt16(flip)
  var firstRow = 0
  while firstRow < rows {
    // 257 bytes sum to less than 2¹⁶.
    let end = min(firstRow &+ 256, rows)
    let excess = Int32(flip) &* Int32(truncatingIfNeeded: end &- firstRow)
    var column = 0
    while column &+ 64 <= columns {
      var (first, second, third, fourth) = (ByteSums(), ByteSums(), ByteSums(), ByteSums())
      for row in firstRow..<end {
        let line = unsafe elements + (row &* stride &+ column)
        unsafe first.add(line, flips)
        unsafe second.add(line + 16, flips)
        unsafe third.add(line + 32, flips)
        unsafe fourth.add(line + 48, flips)
      }
      unsafe first.store(to: results + column, less: excess)
      unsafe second.store(to: results + (column &+ 16), less: excess)
      unsafe third.store(to: results + (column &+ 32), less: excess)
      unsafe fourth.store(to: results + (column &+ 48), less: excess)
      column &+= 64
    }
    while column &+ 16 <= columns {
      var sums = ByteSums()
      for row in firstRow..<end { unsafe sums.add(elements + (row &* stride &+ column), flips) }
      unsafe sums.store(to: results + column, less: excess)
      column &+= 16
    }
    if column < columns {
      for row in firstRow..<end {
        for column in column..<columns {
          let byte = unsafe elements.load(fromByteOffset: row &* stride &+ column, as: UInt8.self)
          unsafe results[column] &+= Int32(byte ^ flip) &- Int32(flip)
        }
      }
    }
    firstRow = end
  }
}

/// The 16-bit sums of 16 columns of bytes, up to 257 rows.
private struct ByteSums {
  private var even = SIMD8<UInt16>()
  private var odd = SIMD8<UInt16>()

  /// Adds 16 bytes, after flipping the bits in `flips`.
  @inline(__always)
  mutating func add(_ line: UnsafeRawPointer, _ flips: UInt16) {
    let pairs = unsafe line.loadUnaligned(as: SIMD8<UInt16>.self) ^ SIMD8(repeating: flips)
    even &+= pairs & 0xFF
    odd &+= pairs &>> 8
  }

  /// The sum of all columns.
  @inline(__always)
  var total: Int32 {
    let pairs = SIMD8<UInt32>(truncatingIfNeeded: even) &+ SIMD8<UInt32>(truncatingIfNeeded: odd)
    return Int32(truncatingIfNeeded: pairs.wrappedSum())
  }

  /// Adds the sums to results, minus the contribution of the flipped bits.
  @inline(__always)
  func store(to results: UnsafeMutablePointer<Int32>, less excess: Int32) {
    for lane in 0..<8 {
      unsafe results[2 &* lane] &+= Int32(even[lane]) &- excess
      unsafe results[2 &* lane &+ 1] &+= Int32(odd[lane]) &- excess
    }
  }
}

enum WrappingProduct<Element: FixedWidthInteger & BitwiseCopyable>: Combination {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element { result &* element }
}
