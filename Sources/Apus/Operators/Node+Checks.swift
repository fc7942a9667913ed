// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Requirements on tensors that several operators share.
extension Node {
  /// Throws unless the zero point is 0, as `int16` tensors require.
  func requireNoZeroPoint(_ slot: TensorSlot) throws(ApusError) {
    let zeroPoint = try quantization(of: slot).zeroPoint
    guard zeroPoint == 0 else {
      throw malformed("\(slot.name) (\(slot.type)) has the zero point \(zeroPoint), not 0")
    }
  }

  /// Throws if an `int16` tensor among these has a zero point other than 0.
  func requireNoZeroPoint(ofInt16 slots: TensorSlot...) throws(ApusError) {
    for slot in slots where slot.type == .int16 { try requireNoZeroPoint(slot) }
  }

  /// Throws unless a tensor has the scale that an operator prescribes.
  func requireScale(_ scale: Float, of slot: TensorSlot) throws(ApusError) {
    let found = try quantization(of: slot).scale
    guard found == scale else { throw malformed("\(slot.name) has the scale \(found), not \(scale)") }
  }

  /// Throws unless a tensor's scale is within a thousandth of the one that an operator prescribes.
  func requireScale(near scale: Float, of slot: TensorSlot) throws(ApusError) {
    let found = try quantization(of: slot).scale
    guard found.isNear(scale) else { throw malformed("\(slot.name) has the scale \(found), not \(scale)") }
  }
}

extension Float {
  /// Whether the number is within a thousandth of another.
  func isNear(_ other: Float) -> Bool { abs(self - other) <= 0.001 * other }
}
