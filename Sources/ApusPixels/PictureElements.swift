// SPDX-License-Identifier: Apache-2.0

/// The element that is written for a byte of a picture, and its destination.
///
/// The memory is the caller's; it must stay valid during a run.
@safe enum PictureElements {
  /// The byte, with these bits flipped.
  case bytes(UnsafeMutablePointer<UInt8>, flip: UInt8)
  /// The entry in a table of 256 per channel.
  case mappedBytes(UnsafeMutablePointer<UInt8>, table: UnsafePointer<UInt8>)
  /// The entry in a table of 256 per channel.
  case floats(UnsafeMutablePointer<Float>, table: UnsafePointer<Float>)

  /// Writes a row of pixels, four bytes each, to their places in the input.
  func write(_ line: UnsafePointer<UInt32>, row: Int, columns: Int, _ placement: PicturePlacement) {
    switch self {
    case .bytes(let target, let flip):
      if unsafe writeTriples(line, row: row, columns: columns, placement, target, flip) { return }
      unsafe place(line, row: row, columns: columns, placement, target) { byte, _ in byte ^ flip }
    case .mappedBytes(let target, let table):
      unsafe place(line, row: row, columns: columns, placement, target) { byte, channel in
        unsafe table[channel &* 256 &+ Int(byte)]
      }
    case .floats(let target, let table):
      unsafe place(line, row: row, columns: columns, placement, target) { byte, channel in
        unsafe table[channel &* 256 &+ Int(byte)]
      }
    }
  }

  /// Writes pixels whose bytes are in order already. Each but the last is stored with one byte too many,
  /// which the next one overwrites.
  private func writeTriples(
    _ line: UnsafePointer<UInt32>, row: Int, columns: Int, _ placement: PicturePlacement,
    _ target: UnsafeMutablePointer<UInt8>, _ flip: UInt8
  ) -> Bool {
    guard case .three(0, 1, 2) = placement.channels, placement.perColumn == 1, placement.pixelStep == 3,
      placement.channelStep == 1
    else { return false }
    var column = 0
    #if !DEBUG
      // A debug build would call a function for each store of another type than the pointer's.
      let mask = UInt32(flip) &* 0x0101_0101
      var place = unsafe UnsafeMutableRawPointer(target) + (placement.origin &+ row &* placement.perRow) &* 3
      while column < columns &- 1 {
        unsafe place.storeBytes(of: line[column] ^ mask, as: UInt32.self)
        unsafe place += 3
        column &+= 1
      }
    #endif
    let bytes = unsafe UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self)
    let start = unsafe target + (placement.origin &+ row &* placement.perRow) &* 3
    while column < columns {
      unsafe start[3 &* column] = bytes[4 &* column] ^ flip
      unsafe start[3 &* column &+ 1] = bytes[4 &* column &+ 1] ^ flip
      unsafe start[3 &* column &+ 2] = bytes[4 &* column &+ 2] ^ flip
      column &+= 1
    }
    return true
  }

  @inline(__always)
  private func place<Element>(
    _ line: UnsafePointer<UInt32>, row: Int, columns: Int, _ placement: PicturePlacement,
    _ target: UnsafeMutablePointer<Element>, _ element: (UInt8, Int) -> Element
  ) {
    let step = placement.perColumn &* placement.pixelStep
    var place = unsafe target + (placement.origin &+ row &* placement.perRow) &* placement.pixelStep
    switch placement.channels {
    case .three(let first, let second, let third):
      let channelStep = placement.channelStep
      var pixel = unsafe UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self)
      var column = 0
      while column < columns {
        unsafe place[0] = element(pixel[first], 0)
        unsafe place[channelStep] = element(pixel[second], 1)
        unsafe place[2 &* channelStep] = element(pixel[third], 2)
        unsafe place += step
        unsafe pixel += 4
        column &+= 1
      }
    case .one:
      for column in 0..<columns {
        unsafe place.pointee = element(UInt8(truncatingIfNeeded: line[column]), 0)
        unsafe place += step
      }
    case .luminance(let red, let green, let blue):
      let shifts = (UInt32(8 &* red), UInt32(8 &* green), UInt32(8 &* blue))
      for column in 0..<columns {
        let pixel = unsafe line[column]
        let level = luminance(
          red: UInt8(truncatingIfNeeded: pixel &>> shifts.0),
          green: UInt8(truncatingIfNeeded: pixel &>> shifts.1),
          blue: UInt8(truncatingIfNeeded: pixel &>> shifts.2))
        unsafe place.pointee = element(level, 0)
        unsafe place += step
      }
    }
  }
}

/// The luminance of ITU-R BT.601; the weights add up to 65,536, so the sum stays below 2²⁴.
@inline(__always)
func luminance(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
  let sum = UInt32(red) &* 19_595 &+ UInt32(green) &* 38_470 &+ UInt32(blue) &* 7_471
  return UInt8(truncatingIfNeeded: (sum &+ 32_768) >> 16)
}
