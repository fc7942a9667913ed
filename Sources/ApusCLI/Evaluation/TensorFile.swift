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

  /// The type of the elements of `.bin` files, which do not say it themselves.
  struct RawType: Sendable {
    let type: ElementType
    /// Whether it is that of the model's input, because nothing else is given.
    let isGuess: Bool

    init(_ given: ElementType?, for input: Tensor) {
      (type, isGuess) = (given ?? input.type, given == nil)
    }

    /// Says what is assumed about files, where another type is as usual; empty otherwise.
    func warnings(_ items: [EvaluationItem]) -> [String] {
      guard isGuess, type != .float32, items.contains(where: { TensorFile.isRaw($0.path) }) else { return [] }
      return ["the .bin files are read as \(type), the type of the model's input; --type says otherwise"]
    }
  }

  private static func isRaw(_ path: String) -> Bool { path.lowercased().hasSuffix(".bin") }

  /// Reads a file.
  ///
  /// - Parameter raw: The type of the elements of a `.bin` file.
  /// - Throws: `unreadableFile`, `resourceLimit`, or `invalidArgument` for a file that is no `.npy`, ends within an element, or has floats
  ///   where the type is a guess of bytes.
  init(_ path: String, _ raw: RawType) throws(ApusError) {
    let type = raw.type
    self.path = path
    let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize)
    guard Self.isRaw(path) else {
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
    guard !raw.isGuess || width > 1 || !Self.looksLikeFloats(bytes) else {
      throw ApusError(
        .invalidArgument,
        "the elements look like float32, not \(type), the type of the model's input: --type float32 or --type \(type) says what they are"
      )
    }
    array = NumPyArray(type: name, shape: [bytes.count / width], bytes: bytes)
  }

  /// Whether bytes are little-endian floats of usual sizes and no bytes of their own: every fourth one is a sign with an exponent from
  /// 2⁻²⁰ to 2²⁰ or belongs to zero, and the others are of all kinds, as those of a picture of one color are not.
  private static func looksLikeFloats(_ bytes: [UInt8]) -> Bool {
    let count = min(bytes.count / 4, 1 << 12)
    guard bytes.count.isMultiple(of: 4), count >= 16 else { return false }
    func isExponent(_ byte: UInt8) -> Bool { (0x35...0x4A).contains(byte & 0x7F) }
    var (others, unlike) = (0, 0)
    for start in stride(from: 0, to: 4 * count, by: 4) {
      let element = bytes[start..<start + 4]
      if element.allSatisfy({ $0 == 0 }) { continue }
      guard isExponent(bytes[start + 3]) else { return false }
      others += 2
      unlike += element.prefix(2).count { !isExponent($0) }
    }
    return others >= 32 && 2 * unlike > others
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
          + (Self.isRaw(path) ? ", or name their type with --type" : ""))
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
