/// How a reduction takes in one more value.
protocol Combination {
  associatedtype Element: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The result after `element`.
  static func combine(_ result: Result, _ element: Element) -> Result

  /// The result after a row of elements.
  static func combine(_ result: Result, _ row: UnsafePointer<Element>, count: Int) -> Result

  /// Takes in the columns of rows that lie `stride` elements apart, each column into a result of its own.
  static func combineColumns(
    _ results: UnsafeMutablePointer<Result>, _ elements: UnsafePointer<Element>, stride: Int, rows: Int,
    columns: Int)
}

extension Combination {
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
  associatedtype Element: BitwiseCopyable & Comparable
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

enum IntegerFolding<T: FixedWidthInteger & BitwiseCopyable>: Folding {
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

/// Rows are summed in sixteen parts.
enum SumOfFloats: Combination {
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
      result += (first + second).sum()
    }
    while index < count {
      unsafe result += row[index]
      index &+= 1
    }
    return result
  }
}

enum Product<Element: BinaryFloatingPoint & BitwiseCopyable>: Combination {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element { result * element }
}

enum WrappingSum<Element: FixedWidthInteger & BitwiseCopyable, Result: FixedWidthInteger & BitwiseCopyable>:
  Combination
{
  @inline(__always)
  static func combine(_ result: Result, _ element: Element) -> Result {
    result &+ Result(truncatingIfNeeded: element)
  }
}

/// Columns of bytes are summed sixteen at a time.
enum SumOfBytes<Element: FixedWidthInteger & BitwiseCopyable>: Combination {
  @inline(__always)
  static func combine(_ result: Int32, _ element: Element) -> Int32 {
    result &+ Int32(truncatingIfNeeded: element)
  }

  @inline(__always)
  static func combineColumns(
    _ results: UnsafeMutablePointer<Int32>, _ elements: UnsafePointer<Element>, stride: Int, rows: Int,
    columns: Int
  ) {
    unsafe addByteColumns(
      results, elements, stride: stride, rows: rows, columns: columns, flip: Element.isSigned ? 0x80 : 0)
  }
}

/// Adds the columns of rows of bytes, whose sign bits `flip` turns, to results, sixteen at a time.
private func addByteColumns(
  _ results: UnsafeMutablePointer<Int32>, _ elements: UnsafeRawPointer, stride: Int, rows: Int, columns: Int,
  flip: UInt8
) {
  let flips = SIMD16(repeating: flip)
  var column = 0
  while column &+ 16 <= columns {
    var row = 0
    while row < rows {
      // 257 bytes sum to less than 2¹⁶.
      let end = min(row &+ 256, rows)
      var sums = SIMD16<UInt16>()
      for index in row..<end {
        let offset = index &* stride &+ column
        sums &+= unsafe SIMD16<UInt16>(
          widening: elements.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self) ^ flips)
      }
      let excess = Int32(flip) &* Int32(truncatingIfNeeded: end &- row)
      for lane in 0..<16 { unsafe results[column &+ lane] &+= Int32(sums[lane]) &- excess }
      row = end
    }
    column &+= 16
  }
  for row in 0..<rows {
    for column in column..<columns {
      let byte = unsafe elements.load(fromByteOffset: row &* stride &+ column, as: UInt8.self)
      unsafe results[column] &+= Int32(byte ^ flip) &- Int32(flip)
    }
  }
}

enum WrappingProduct<Element: FixedWidthInteger & BitwiseCopyable>: Combination {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element { result &* element }
}

enum Maximum<Element: BitwiseCopyable & Comparable>: Combination {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element {
    element > result ? element : result
  }
}

enum Minimum<Element: BitwiseCopyable & Comparable>: Combination {
  @inline(__always)
  static func combine(_ result: Element, _ element: Element) -> Element {
    element < result ? element : result
  }
}
