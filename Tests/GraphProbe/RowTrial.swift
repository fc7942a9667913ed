// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport

/// Tries to refute that rows of a batch are independent where the engine says so: rows together, and each alone.
///
/// One number beyond a bound may make a model mix rows, so there are numbers of all magnitudes, one row of
/// large numbers among small ones, limits of types, infinities and NaN.
struct RowTrial {
  private let model: Model
  private let shapes: [TensorShape]
  private let kernels: String
  private var random: SeededGenerator

  /// How the numbers of an input are drawn.
  private enum Numbers: CaseIterable {
    case ordinary, oneLargeRow, allMagnitudes, small, limits, special
  }

  /// - Parameter given: The model; the first dimension of its first set's shapes becomes a batch.
  init(_ given: Case, kernels: String) throws(ApusError) {
    model = try Model(bytes: given.model)
    shapes = given.sets[0].map(\.shape)
    self.kernels = kernels
    random = SeededGenerator(seed: UInt64(given.model.count))
  }

  /// The trial's outcome: `proved`, `refuted: …`, or why there is no proof.
  mutating func result() -> String {
    guard shapes.allSatisfy({ $0.rank > 0 }) else { return "an input is a scalar" }
    do throws(ApusError) {
      let alone = try interpreter(1)
      for count in [2, 3, 5] {
        let together = try interpreter(count)
        if let reason = together.rows.reason(toDifferFrom: alone.rows) { return reason }
        for numbers in Numbers.allCases {
          if let difference = try difference(together, alone, count, numbers) {
            return "refuted: \(count) rows, \(numbers): \(difference)"
          }
        }
      }
      return "proved"
    } catch {
      return "cannot be prepared: \(error.message)"
    }
  }

  private func interpreter(_ count: Int) throws(ApusError) -> Interpreter {
    var options = Interpreter.Options()
    if !kernels.isEmpty { options.kernels = KernelSetName(rawValue: kernels) }
    for (position, shape) in shapes.enumerated() {
      options.inputShapes[position] = TensorShape([count] + shape.dimensions.dropFirst())
    }
    return try Interpreter(model: model, options: options)
  }

  /// How rows together differ from each alone; nil if they do not, or a run refuses the numbers.
  private mutating func difference(
    _ together: Interpreter, _ alone: Interpreter, _ count: Int, _ numbers: Numbers
  ) throws(ApusError) -> String? {
    let rows = (0..<count).map { row in
      together.inputs.map { input in
        let elements = input.shape.elementCount / count
        return (0..<elements).flatMap { _ in element(input.type, numbers, row) }
      }
    }
    try fill(together, rows)
    do { try together.invoke() } catch { return nil }
    for (row, values) in rows.enumerated() {
      try fill(alone, [values])
      do { try alone.invoke() } catch { return nil }
      for (position, output) in alone.outputs.enumerated() {
        let wanted = try bytes(alone, position)
        let all = try bytes(together, position)
        guard all.count == wanted.count * count else { return "output \(position) has other rows" }
        let found = Array(all[wanted.count * row..<wanted.count * (row + 1)])
        if found == wanted { continue }
        let width = output.type.byteCount ?? 1
        let different = stride(from: 0, to: found.count, by: width).first { place in
          let (one, other) = (found[place..<place + width], wanted[place..<place + width])
          // The bits of NaN are those of one operand or another.
          return one != other && !(isNaN(one, output.type) && isNaN(other, output.type))
        }
        guard let place = different else { continue }
        return """
          row \(row), output \(position), element \(place / width) of \(output.shape) \(output.type): \
          \(text(found[place..<place + width], output.type)), alone \(text(wanted[place..<place + width], output.type))
          """
      }
    }
    return nil
  }

  private func fill(_ interpreter: Interpreter, _ rows: [[[UInt8]]]) throws(ApusError) {
    for position in interpreter.inputs.indices {
      let bytes = rows.flatMap { $0[position] }
      try interpreter.withInputBytes(at: position) { (span: inout MutableRawSpan) throws(ApusError) in
        unsafe span.withUnsafeMutableBytes { unsafe $0.copyBytes(from: bytes) }
      }
    }
  }

  private func bytes(_ interpreter: Interpreter, _ position: Int) throws(ApusError) -> [UInt8] {
    try interpreter.withOutputBytes(at: position) { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
  }

  private func bits(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func isNaN(_ bytes: ArraySlice<UInt8>, _ type: ElementType) -> Bool {
    switch type {
    case .float32: bits(bytes) & 0x7FFF_FFFF > 0x7F80_0000
    case .float16: bits(bytes) & 0x7FFF > 0x7C00
    default: false
    }
  }

  private func text(_ bytes: ArraySlice<UInt8>, _ type: ElementType) -> String {
    let bits = bits(bytes)
    return type == .float32
      ? "\(Float(bitPattern: UInt32(bits))) (\(String(bits, radix: 16)))" : String(bits, radix: 16)
  }

  // MARK: Numbers

  private mutating func element(_ type: ElementType, _ numbers: Numbers, _ row: Int) -> [UInt8] {
    switch type {
    case .float32: bytes(float(numbers, row).bitPattern)
    case .bool: [UInt8.random(in: 0...1, using: &random)]
    case .int8, .uint8: [byte(numbers)]
    case .int16, .uint16: bytes(integer(UInt16.self, numbers))
    case .int32, .uint32: bytes(integer(UInt32.self, numbers))
    case .int64, .uint64: bytes(integer(UInt64.self, numbers))
    default: [UInt8](repeating: 0, count: type.byteCount ?? 1)
    }
  }

  private mutating func float(_ numbers: Numbers, _ row: Int) -> Float {
    let unit = Float.random(in: -1...1, using: &random)
    switch numbers {
    case .ordinary: return unit * 3
    case .oneLargeRow: return row == 0 ? unit * 1e30 : unit
    case .allMagnitudes:
      return Float(
        sign: unit < 0 ? .minus : .plus, exponent: .random(in: -149...127, using: &random), significand: 1)
        * .random(in: 1..<2, using: &random)
    case .small: return unit * 1e-30
    case .limits:
      let values: [Float] = [
        0, -0, 1, -1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 6, 127.5,
        -128.5,
      ]
      return values.randomElement(using: &random) ?? 0
    case .special:
      let values: [Float] = [0, unit, unit * 100, .infinity, -.infinity, .nan, unit]
      return row == 0 ? values.randomElement(using: &random) ?? 0 : unit
    }
  }

  private mutating func byte(_ numbers: Numbers) -> UInt8 {
    let limits: [UInt8] = [0, 1, 127, 128, 129, 255]
    return numbers == .limits
      ? limits.randomElement(using: &random) ?? 0 : .random(in: 0...255, using: &random)
  }

  private mutating func integer<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type, _ numbers: Numbers)
    -> T
  {
    switch numbers {
    case .limits: [0, 1, .max, T.max >> 1, T.max >> 1 + 1].randomElement(using: &random) ?? 0
    case .allMagnitudes, .special: .random(in: 0 ... .max, using: &random)
    default: T(truncatingIfNeeded: Int.random(in: -9...9, using: &random))
    }
  }

  private func bytes<T: FixedWidthInteger>(_ bits: T) -> [UInt8] {
    (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
  }
}
