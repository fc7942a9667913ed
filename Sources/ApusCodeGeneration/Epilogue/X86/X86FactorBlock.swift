// SPDX-License-Identifier: Apache-2.0

/// The factors of one panel while they are written.
@safe struct X86FactorBlock {
  private let start: UnsafeMutableRawPointer
  let layout: X86FactorLayout
  private let lanes: ChannelLanes

  init(start: UnsafeMutableRawPointer, layout: X86FactorLayout, lanes: ChannelLanes) {
    unsafe self.start = start
    self.layout = layout
    self.lanes = lanes
  }

  /// Writes a value at an offset.
  func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
    unsafe start.storeBytes(of: value, toByteOffset: offset, as: Value.self)
  }

  /// Writes the zero point and the bounds of bytes.
  func storeBytes(_ zeroPoint: Int32, _ minimum: Int32, _ maximum: Int32) {
    // Code that reads the second vector of a pair needs them too.
    for place in [0, 32] {
      store(Int16(truncatingIfNeeded: zeroPoint), at: layout.zeroPoint + place)
      store(UInt32(UInt8(truncatingIfNeeded: minimum)) * 0x0101_0101, at: layout.minimum + place)
      store(UInt32(UInt8(truncatingIfNeeded: maximum)) * 0x0101_0101, at: layout.maximum + place)
    }
  }

  /// Calls `body` with each lane that has a channel, and the factor of that channel or of all.
  @inline(__always)
  func forEachLane<Factor>(_ factors: [Factor], _ body: (_ lane: Int, _ factor: Factor) -> Void) {
    for lane in lanes.columns.indices {
      guard let channel = lanes.channel(lane) else { continue }
      body(lane, factors.count > 1 ? factors[channel] : factors[0])
    }
  }
}
