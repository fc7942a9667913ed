// SPDX-License-Identifier: Apache-2.0

/// Changes what a model means while it stays the FlatBuffer that it is: dimensions, indices, types, scales, codes, options.
///
/// A mutation follows one random path from the root to a number, so that its cost does not grow with the file.
enum ModelMutation {
  private static let words: [UInt32] = [
    0, 1, 2, 3, 4, 7, 8, 255, 256, 4096, 65_535, 65_536, 1 << 20, 1 << 30, 0x7FFF_FFFF, 0x8000_0000, .max,
    .max - 1, 0x3F80_0000, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 1,
  ]

  /// Changes one to four numbers; false if the bytes are not a model.
  static func apply(to bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool {
    var isChanged = false
    for _ in 0..<1 + random.below(4) {
      guard let field = field(of: bytes, &random), let old = word(bytes, field.at) else { continue }
      let value =
        switch random.below(8) {
        case 0...2: words[random.below(words.count)]
        case 3, 4: old &+ 1
        case 5: old &- 1
        case 6: old &* 2
        default: self.field(of: bytes, &random).flatMap { word(bytes, $0.at) } ?? 0
        }
      for index in 0..<field.width {
        bytes[field.at + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index))
      }
      isChanged = true
    }
    return isChanged
  }

  /// A number in the file; at least four bytes follow its beginning.
  private struct Field {
    let at: Int
    let width: Int
  }

  /// A random number that has a meaning; nil if none is found in a few tries.
  private static func field(of bytes: [UInt8], _ random: inout FuzzRandom) -> Field? {
    guard let root = word(bytes, 0).map(Int.init) else { return nil }
    for _ in 0..<8 {
      let found: Field? =
        switch random.below(16) {
        case 0: operatorCode(bytes, root, &random)
        case 1...7: element(bytes, root, 2, &random).flatMap { tensor(bytes, $0, &random) }
        case 8...13: element(bytes, root, 2, &random).flatMap { node(bytes, $0, &random) }
        case 14: buffer(bytes, root, &random)
        default:
          element(bytes, root, 2, &random).flatMap { number(bytes, $0, 1 + random.below(2), 4, &random) }
        }
      if let found, found.at >= 0, found.at <= bytes.count - 4 { return found }
    }
    return nil
  }

  private static func operatorCode(_ bytes: [UInt8], _ root: Int, _ random: inout FuzzRandom) -> Field? {
    guard let code = element(bytes, root, 1, &random) else { return nil }
    let choices = [(0, 1), (2, 4), (3, 4)]
    let (index, width) = choices[random.below(3)]
    return scalar(bytes, code, index, width)
  }

  private static func tensor(_ bytes: [UInt8], _ graph: Int, _ random: inout FuzzRandom) -> Field? {
    guard let tensor = element(bytes, graph, 0, &random) else { return nil }
    switch random.below(9) {
    case 0...2: return number(bytes, tensor, 0, 4, &random)
    case 3: return number(bytes, tensor, 7, 4, &random)
    case 4: return scalar(bytes, tensor, 1, 1)
    case 5: return scalar(bytes, tensor, 2, 4)
    case 6: return scalar(bytes, tensor, 5, 1)
    default:
      guard let quantization = target(bytes, tensor, 4) else { return nil }
      switch random.below(4) {
      case 0: return number(bytes, quantization, 2, 4, &random)
      case 1, 2: return number(bytes, quantization, 3, 8, &random)
      default: return scalar(bytes, quantization, 6, 4)
      }
    }
  }

  private static func node(_ bytes: [UInt8], _ graph: Int, _ random: inout FuzzRandom) -> Field? {
    guard let node = element(bytes, graph, 3, &random) else { return nil }
    switch random.below(8) {
    case 0: return scalar(bytes, node, 0, 4)
    case 1, 2: return number(bytes, node, 1, 4, &random)
    case 3: return number(bytes, node, 2, 4, &random)
    case 4: return scalar(bytes, node, 3, 1)
    case 5: return number(bytes, node, 5, 1, &random)
    default:
      guard let options = target(bytes, node, random.below(8) == 0 ? 12 : 4) else { return nil }
      return scalar(bytes, options, random.below(12), random.below(3) == 0 ? 1 : 4)
    }
  }

  /// A number of a short constant, such as a shape or an axis; weights stay.
  private static func buffer(_ bytes: [UInt8], _ root: Int, _ random: inout FuzzRandom) -> Field? {
    guard let buffer = element(bytes, root, 4, &random), let data = target(bytes, buffer, 0),
      let count = word(bytes, data), count <= 64
    else { return nil }
    return Field(at: data + 4 + 4 * random.below(max(Int(count) / 4, 1)), width: 4)
  }

  // MARK: FlatBuffers

  private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32? {
    guard at >= 0, at <= bytes.count - 4 else { return nil }
    return UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16
      | UInt32(bytes[at + 3]) << 24
  }

  private static func half(_ bytes: [UInt8], _ at: Int) -> Int? {
    guard at >= 0, at <= bytes.count - 2 else { return nil }
    return Int(bytes[at]) | Int(bytes[at + 1]) << 8
  }

  /// Where a table's field is.
  private static func place(_ bytes: [UInt8], _ table: Int, _ index: Int) -> Int? {
    guard let distance = word(bytes, table) else { return nil }
    let vtable = table - Int(Int32(bitPattern: distance))
    guard let size = half(bytes, vtable), 4 + 2 * index < size,
      let offset = half(bytes, vtable + 4 + 2 * index), offset > 0
    else { return nil }
    return table + offset
  }

  /// The position to which a table's field refers.
  private static func target(_ bytes: [UInt8], _ table: Int, _ index: Int) -> Int? {
    guard let at = place(bytes, table, index), let offset = word(bytes, at) else { return nil }
    return at + Int(offset)
  }

  /// A random table of a field's vector.
  private static func element(_ bytes: [UInt8], _ table: Int, _ index: Int, _ random: inout FuzzRandom)
    -> Int?
  {
    guard let vector = target(bytes, table, index), let count = word(bytes, vector), count > 0 else {
      return nil
    }
    let at = vector + 4 + 4 * random.below(min(Int(count), 20_000))
    return word(bytes, at).map { at + Int($0) }
  }

  /// A random number of a field's vector; sometimes the low byte of its length.
  private static func number(
    _ bytes: [UInt8], _ table: Int, _ index: Int, _ width: Int, _ random: inout FuzzRandom
  ) -> Field? {
    guard let vector = target(bytes, table, index), let count = word(bytes, vector) else { return nil }
    if count == 0 || random.below(8) == 0 { return Field(at: vector, width: 1) }
    return Field(at: vector + 4 + width * random.below(min(Int(count), 20_000)), width: min(width, 4))
  }

  private static func scalar(_ bytes: [UInt8], _ table: Int, _ index: Int, _ width: Int) -> Field? {
    place(bytes, table, index).map { Field(at: $0, width: width) }
  }
}
