// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusTesting
import ApusVision

/// The elements of a raw tensor in a `.npy` file, or in a `.bin` file that has nothing but elements.
struct TensorFile {
  /// The elements; those of a `.bin` file have one axis.
  let array: NumPyArray
  /// The file, for messages.
  private let path: String

  /// The maximum size of a file, in bytes.
  private static let maximumFileSize = 1 << 28
  /// The types of elements that .bin files have.
  static let types: [ElementType] = [
    .float32, .float16, .float64, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .uint64,
  ]

  /// Reads a file.
  ///
  /// - Parameter type: The type of the elements of a `.bin` file.
  /// - Throws: `unreadableFile`, `resourceLimit`, or `invalidArgument` for a file that is no `.npy` or ends within an element.
  init(_ path: String, type: ElementType) throws(ApusError) {
    self.path = path
    let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize)
    guard path.lowercased().hasSuffix(".bin") else {
      array = try NumPyArray(file: bytes)
      return
    }
    guard Self.types.contains(type), let name = NumPyArray.type(of: type), let width = type.byteCount else {
      throw ApusError(
        .invalidArgument,
        "\(type) elements are not read from .bin files; convert them to .npy, or name their type with --type")
    }
    guard bytes.count.isMultiple(of: width) else {
      throw ApusError(
        .invalidArgument,
        "\(bytes.count) bytes are no whole number of \(type) elements of \(width) bytes; --type names another type"
      )
    }
    array = NumPyArray(type: name, shape: [bytes.count / width], bytes: bytes)
  }

  /// The bytes for an input, and the real numbers that the elements represent.
  ///
  /// Elements of the input's type are taken as they are. Floats are quantized, rounded to the nearest. Bytes without a sign become those
  /// with a sign, and the other way round, by a shift of 128, as in two quantizations of the same numbers. Integers become floats.
  ///
  /// - Throws: `invalidArgument` for other elements.
  func elements(for tensor: Tensor) throws(ApusError) -> (bytes: [UInt8], reals: [Double]) {
    let numbers = try array.numbers()
    if array.fits(tensor.type) {
      return (array.tensorBytes(of: tensor.type), tensor.reals(numbers))
    }
    if let bytes = shifted(for: tensor.type) {
      let signed = array.typeName == "uint8" ? -128.0 : 128
      return (bytes, tensor.reals(numbers.map { $0 + signed }))
    }
    let isInteger = tensor.type != .float32
    guard array.holdsFloats || !isInteger, !array.typeName.hasPrefix("complex"),
      !isInteger || tensor.isScaled,
      let bytes = tensor.bytes(of: numbers)
    else {
      throw ApusError(
        .invalidArgument,
        "the elements are \(array.typeName), but the model's input is \(tensor); save them with NumPy's astype"
          + (path.lowercased().hasSuffix(".bin") ? ", or name their type with --type" : ""))
    }
    if array.holdsFloats, let odd = numbers.first(where: { !$0.isFinite }) {
      throw ApusError(.invalidData, "an element is \(odd), not a finite number")
    }
    return (bytes, numbers)
  }

  /// Checks that the elements are those of one whole input: in its shape, dimensions of 1 apart, or along one axis.
  ///
  /// - Throws: `invalidArgument` for another shape.
  func checkShape(for tensor: Tensor) throws(ApusError) {
    func plain(_ shape: [Int]) -> [Int] { shape.filter { $0 != 1 } }
    guard array.shape.count == 1 || plain(array.shape) == plain(tensor.shape.dimensions) else {
      throw ApusError(
        .invalidArgument,
        "the array has the shape \(TensorShape(array.shape)), but the model's input is \(tensor); save it with NumPy's transpose or reshape"
      )
    }
  }

  private func shifted(for type: ElementType) -> [UInt8]? {
    switch (array.typeName, type) {
    case ("uint8", .int8), ("int8", .uint8): array.bytes.map { $0 ^ 0x80 }
    default: nil
    }
  }
}
