// SPDX-License-Identifier: Apache-2.0

/// Changes what a model means while it stays the FlatBuffer that it is: dimensions, indices, types, scales, codes, options.
enum ModelMutation {
  private static let words: [UInt32] = [
    0, 1, 2, 3, 4, 7, 8, 255, 256, 4096, 65_535, 65_536, 1 << 20, 1 << 30, 0x7FFF_FFFF, 0x8000_0000, .max,
    .max - 1, 0x3F80_0000, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 1,
  ]

  /// Changes one to four numbers; false where the bytes are no model.
  static func apply(to bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool {
    let fields = Walk(bytes).numbers()
    guard !fields.isEmpty else { return false }
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let field = fields[Int.random(in: 0..<fields.count, using: &random)]
      let other = fields[Int.random(in: 0..<fields.count, using: &random)]
      let old = Walk(bytes).word(field.at) ?? 0
      let choices = [
        words[Int.random(in: 0..<words.count, using: &random)], old &+ 1, old &- 1, old &* 2,
        Walk(bytes).word(other.at) ?? 0,
      ]
      let value = choices[Int.random(in: 0..<choices.count, using: &random)]
      for index in 0..<field.width {
        bytes[field.at + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index))
      }
    }
    return true
  }

  /// Finds where a file's numbers are.
  private struct Walk {
    private let bytes: [UInt8]
    private static let most = 20_000

    struct Field {
      let at: Int
      let width: Int
    }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func word(_ at: Int) -> UInt32? {
      guard at >= 0, at <= bytes.count - 4 else { return nil }
      return (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) }
    }

    private func half(_ at: Int) -> Int? {
      guard at >= 0, at <= bytes.count - 2 else { return nil }
      return Int(bytes[at]) | Int(bytes[at + 1]) << 8
    }

    /// Where a table's field is.
    private func field(_ table: Int, _ index: Int) -> Int? {
      guard let distance = word(table) else { return nil }
      let vtable = table - Int(Int32(bitPattern: distance))
      guard let size = half(vtable), 4 + 2 * index < size, let offset = half(vtable + 4 + 2 * index),
        offset > 0
      else { return nil }
      return table + offset
    }

    private func target(_ table: Int, _ index: Int) -> Int? {
      guard let at = field(table, index), let offset = word(at) else { return nil }
      return at + Int(offset)
    }

    private func tables(_ table: Int, _ index: Int) -> [Int] {
      guard let vector = target(table, index), let count = word(vector), count < Self.most else { return [] }
      return (0..<Int(count)).compactMap { place in
        let at = vector + 4 + 4 * place
        return word(at).map { at + Int($0) }
      }
    }

    private func vector(_ table: Int, _ index: Int, width: Int, _ found: inout [Field]) {
      guard let vector = target(table, index), let count = word(vector), count < Self.most else { return }
      found.append(Field(at: vector, width: 1))
      for place in 0..<Int(count) where vector + 4 + width * place <= bytes.count - 4 {
        found.append(Field(at: vector + 4 + width * place, width: 4))
      }
    }

    private func scalar(_ table: Int, _ index: Int, width: Int, _ found: inout [Field]) {
      if let at = field(table, index), at >= 0, at <= bytes.count - 4 {
        found.append(Field(at: at, width: width))
      }
    }

    func numbers() -> [Field] {
      var found: [Field] = []
      guard let root = word(0).map(Int.init), root < bytes.count else { return [] }
      for code in tables(root, 1) {
        scalar(code, 0, width: 1, &found)
        scalar(code, 2, width: 4, &found)
        scalar(code, 3, width: 4, &found)
      }
      for graph in tables(root, 2) {
        vector(graph, 1, width: 4, &found)
        vector(graph, 2, width: 4, &found)
        for tensor in tables(graph, 0) {
          for _ in 0..<2 { vector(tensor, 0, width: 4, &found) }
          vector(tensor, 7, width: 4, &found)
          scalar(tensor, 1, width: 1, &found)
          scalar(tensor, 2, width: 4, &found)
          scalar(tensor, 5, width: 1, &found)
          if let quantization = target(tensor, 4) {
            vector(quantization, 2, width: 4, &found)
            vector(quantization, 3, width: 8, &found)
            scalar(quantization, 6, width: 4, &found)
          }
        }
        for node in tables(graph, 3) {
          scalar(node, 0, width: 4, &found)
          vector(node, 1, width: 4, &found)
          vector(node, 2, width: 4, &found)
          scalar(node, 3, width: 1, &found)
          vector(node, 5, width: 1, &found)
          for options in [4, 12].compactMap({ target(node, $0) }) {
            for field in 0..<16 {
              scalar(options, field, width: 4, &found)
              scalar(options, field, width: 1, &found)
            }
          }
        }
      }
      for buffer in tables(root, 4) {
        // Shapes and axes are short; weights stay.
        if let data = target(buffer, 0), let count = word(data), count <= 64 {
          vector(buffer, 0, width: 4, &found)
        }
      }
      return found
    }
  }
}
