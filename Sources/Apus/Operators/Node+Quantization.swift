// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// Scales and zero points, checked.
extension Node {
  /// A whole tensor's scale and zero point, checked: finite, above zero, in the type's range.
  func quantization(of slot: TensorSlot) throws(ApusError) -> (scale: Float, zeroPoint: Int32) {
    let entry = try checkedQuantization(of: slot)
    guard entry.scaleCount == 1 else {
      throw unsupported("\(slot.name) has \(entry.scaleCount) scales; one is supported here")
    }
    return (entry.scale(0), Int32(entry.zeroPoint(0)))
  }

  /// A tensor's scales and zero points, checked: finite, above zero, in the type's range.
  func channelQuantization(of slot: TensorSlot) throws(ApusError) -> QuantizationParameters {
    guard let parameters = QuantizationParameters(try checkedQuantization(of: slot)) else {
      throw noScale(slot)
    }
    return parameters
  }

  /// A tensor's quantization in the file's form, checked: scales are finite and above zero, zero points in
  /// the type's range.
  func checkedQuantization(of slot: TensorSlot) throws(ApusError) -> QuantizationEntry {
    guard let entry = slot.storedQuantization, entry.scaleCount > 0 else { throw noScale(slot) }
    if let scale = entry.firstImproperScale {
      throw malformed("\(slot.name) has the scale \(scale); finite and above zero is expected")
    }
    let range = slot.type.integerRange
    if let zeroPoint = entry.firstZeroPoint(outside: range) {
      throw malformed("\(slot.name) has the zero point \(zeroPoint), outside \(range)")
    }
    return entry
  }

  private func noScale(_ slot: TensorSlot) -> ApusError {
    malformed("\(slot.name) (\(slot.type)) has no scale")
  }

  /// The bounds of a fused activation in an integer tensor's own units.
  func quantizedBounds(
    _ activation: FusedActivation, of slot: TensorSlot
  ) throws(ApusError) -> (minimum: Int32, maximum: Int32) {
    let range = slot.type.integerRange
    guard activation != .none, let bounds = activation.bounds else {
      return (Int32(range.lowerBound), Int32(range.upperBound))
    }
    let (scale, zeroPoint) = try quantization(of: slot)
    func quantized(_ bound: Float) throws(ApusError) -> Int {
      let steps = (bound / scale).rounded(.toNearestOrAwayFromZero)
      guard abs(steps) < 2_147_483_648 else {
        throw malformed("\(slot.name) has the scale \(scale), too small for the activation \(activation)")
      }
      return Int(zeroPoint) + Int(steps)
    }
    var minimum = range.lowerBound
    var maximum = range.upperBound
    minimum = max(minimum, try quantized(bounds.minimum))
    if bounds.maximum < .greatestFiniteMagnitude { maximum = min(maximum, try quantized(bounds.maximum)) }
    return (Int32(clamping: minimum), Int32(clamping: maximum))
  }
}

extension ElementType {
  /// Whether quantized elements may be below zero.
  var isSignedInteger: Bool { integerRange.lowerBound < 0 }

  /// The range of a quantized element; that of `Int32` for types that are not 8 or 16 bits wide.
  var integerRange: ClosedRange<Int> {
    switch self {
    case .uint8: 0...255
    case .int8: -128...127
    case .int16: -32768...32767
    case .uint16: 0...65535
    case .int4: -8...7
    case .int2: -2...1
    case .uint4: 0...15
    case .int32, .int64, .uint32, .uint64, .float32, .float16, .bfloat16, .float64, .string, .bool,
      .complex64,
      .complex128, .resource, .variant, .float8E4M3FN, .float8E5M2:
      Int(Int32.min)...Int(Int32.max)
    }
  }
}
