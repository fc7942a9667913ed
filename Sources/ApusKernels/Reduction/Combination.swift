/// How a reduction takes in one more value.
protocol Combination {
  associatedtype Element: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The result after `element`.
  static func combine(_ result: Result, _ element: Element) -> Result

  /// The result after a row of elements.
  static func combine(_ result: Result, _ row: UnsafePointer<Element>, count: Int) -> Result
}

extension Combination {
  @inline(__always)
  static func combine(_ result: Result, _ row: UnsafePointer<Element>, count: Int) -> Result {
    var result = result
    for index in 0..<count { result = unsafe combine(result, row[index]) }
    return result
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
