// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension Node {
  /// Throws unless the zero point is 0, as `int16` tensors require.
  func requireNoZeroPoint(_ slot: TensorSlot) throws(ApusError) {
    let zeroPoint = try quantization(of: slot).zeroPoint
    guard zeroPoint == 0 else {
      throw malformed("\(slot.name) (\(slot.type)) has the zero point \(zeroPoint), not 0")
    }
  }
}
