// SPDX-License-Identifier: Apache-2.0

/// The fields of a numpy array, as every extension module of numpy 1 and 2 reads them, in a CPython with one lock.
///
/// Reading them takes a nanosecond; Python's buffer protocol takes a quarter of a microsecond. ``fits(_:)`` compares them with what Python
/// says of the same array.
struct ArrayLayout {
  private let object: UnsafeRawPointer

  init(_ object: PythonObject) { self.object = UnsafeRawPointer(object) }

  /// The object's type. Every object has this field, and only arrays the others.
  var type: UnsafeRawPointer? { object.load(fromByteOffset: 8, as: UnsafeRawPointer?.self) }
  var data: UnsafeRawPointer? { object.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) }
  var rank: Int { Int(object.load(fromByteOffset: 24, as: Int32.self)) }
  var elementType: UnsafeRawPointer? { object.load(fromByteOffset: 56, as: UnsafeRawPointer?.self) }
  /// Whether the elements are in the order of C, without gaps.
  var isContiguous: Bool { object.load(fromByteOffset: 64, as: Int32.self) & 1 != 0 }

  /// Whether another array has the same element type and the same shape.
  func matches(_ other: ArrayLayout) -> Bool {
    guard elementType == other.elementType, rank == other.rank else { return false }
    guard let mine = dimensions, let others = other.dimensions else { return rank == 0 }
    for axis in 0..<rank where mine[axis] != others[axis] { return false }
    return true
  }

  private var dimensions: UnsafePointer<Int>? {
    object.load(fromByteOffset: 32, as: UnsafePointer<Int>?.self)
  }

  /// Whether the fields have these values.
  func fits(type: Int, data: Int, shape: [Int], elementType: Int, isContiguous: Bool) -> Bool {
    guard Int(bitPattern: self.type) == type, Int(bitPattern: self.data) == data, rank == shape.count,
      Int(bitPattern: self.elementType) == elementType, self.isContiguous == isContiguous,
      let dimensions
    else { return false }
    return shape.indices.allSatisfy { dimensions[$0] == shape[$0] }
  }
}
