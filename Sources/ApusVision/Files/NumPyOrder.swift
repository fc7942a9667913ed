// SPDX-License-Identifier: Apache-2.0

/// How a `.npy` file orders its elements and their bytes.
package struct NumPyOrder: Sendable {
  /// Whether the most significant byte of a number comes first.
  package let isBigEndian: Bool
  /// Whether the first axis changes fastest: Fortran's order.
  package let isColumnMajor: Bool
  /// The size of a number in bytes; complex elements have two numbers.
  private let numberByteCount: Int

  init(isBigEndian: Bool = false, isColumnMajor: Bool = false, numberByteCount: Int = 1) {
    self.isBigEndian = isBigEndian
    self.isColumnMajor = isColumnMajor
    self.numberByteCount = numberByteCount
  }

  /// Makes whole numbers of a file little-endian.
  package func swapBytes(_ bytes: inout [UInt8]) {
    guard isBigEndian, numberByteCount > 1, numberByteCount <= 16 else { return }
    for start in stride(from: 0, through: bytes.count - numberByteCount, by: numberByteCount) {
      bytes[start..<start + numberByteCount].reverse()
    }
  }

  /// The positions in the order of rows, element by element in the order of columns.
  package struct Positions {
    private let shape: [Int]
    private let strides: [Int]
    private var coordinates: [Int]
    private var position = 0

    /// Starts at the first element of an array that is not larger than memory.
    package init(shape: [Int]) {
      self.shape = shape
      coordinates = Array(repeating: 0, count: shape.count)
      var strides = Array(repeating: 1, count: shape.count)
      for axis in shape.indices.dropLast().reversed() { strides[axis] = strides[axis + 1] &* shape[axis + 1] }
      self.strides = strides
    }

    /// The next element's position; behind the last element, the first one's again.
    package mutating func next() -> Int {
      let result = position
      for axis in shape.indices {
        coordinates[axis] += 1
        position &+= strides[axis]
        if coordinates[axis] < shape[axis] { break }
        position &-= strides[axis] &* coordinates[axis]
        coordinates[axis] = 0
      }
      return result
    }
  }
}
