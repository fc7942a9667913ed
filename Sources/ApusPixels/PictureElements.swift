// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

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

  /// Writes a row of pixels, four bytes each, to their places in the input, if possible with code.
  func write(
    _ line: UnsafePointer<UInt32>, row: Int, columns: Int, _ placement: PicturePlacement,
    _ code: CodeFunction<PictureCode.Elements>?
  ) {
    let first = (placement.origin &+ row &* placement.perRow) &* placement.pixelStep
    switch self {
    case .bytes(let target, let flip):
      if placement.isTriples {
        unsafe writeTriples(line, columns: columns, placement.channels, target + first, flip, code)
        return
      }
      unsafe place(line, row: row, columns: columns, placement, target) { byte, _ in byte ^ flip }
    case .mappedBytes(let target, let table):
      if let code {
        unsafe call(code, line, columns, placement, target + first, table, width: 1)
        return
      }
      unsafe place(line, row: row, columns: columns, placement, target) { byte, channel in
        unsafe table[channel &* 256 &+ Int(byte)]
      }
    case .floats(let target, let table):
      if let code {
        unsafe call(code, line, columns, placement, target + first, table, width: 4)
        return
      }
      unsafe place(line, row: row, columns: columns, placement, target) { byte, channel in
        unsafe table[channel &* 256 &+ Int(byte)]
      }
    }
  }

  /// Lets code write a row through a table.
  private func call(
    _ code: CodeFunction<PictureCode.Elements>, _ line: UnsafePointer<UInt32>, _ columns: Int,
    _ placement: PicturePlacement, _ target: UnsafeMutableRawPointer, _ table: UnsafeRawPointer, width: Int
  ) {
    code.call(
      PictureCode.Elements(
        line: Int(bitPattern: line), target: Int(bitPattern: target), count: columns,
        step: placement.perColumn &* placement.pixelStep &* width,
        channelStep: placement.channelStep &* width, table: Int(bitPattern: table)))
  }

  /// Writes three bytes for each pixel, one pixel after the other.
  private func writeTriples(
    _ line: UnsafePointer<UInt32>, columns: Int, _ channels: PicturePlacement.Channels,
    _ target: UnsafeMutablePointer<UInt8>, _ flip: UInt8, _ code: CodeFunction<PictureCode.Elements>?
  ) {
    guard case .three(let first, let second, let third) = channels else { return }
    var column = 0
    if let code, columns >= 6 {
      // Groups of four pixels; the four bytes behind the last one are still in the row.
      let groups = (3 &* columns &- 4) / 12
      var order = SIMD16<UInt8>()
      for pixel in 0..<4 {
        order[3 &* pixel] = UInt8(truncatingIfNeeded: 4 &* pixel &+ first)
        order[3 &* pixel &+ 1] = UInt8(truncatingIfNeeded: 4 &* pixel &+ second)
        order[3 &* pixel &+ 2] = UInt8(truncatingIfNeeded: 4 &* pixel &+ third)
      }
      code.call(
        PictureCode.Elements(
          line: Int(bitPattern: line), target: Int(bitPattern: target), count: groups, step: 0,
          channelStep: 0,
          table: 0, flip: UInt32(flip) &* 0x0101_0101, order: order))
      column = 4 &* groups
    }
    #if !DEBUG
      if code == nil, (first, second, third) == (0, 1, 2) {
        // Each pixel but the last is stored with one byte too many, which the next one overwrites. A debug build would call a
        // function for each store of another type than the pointer's.
        let mask = UInt32(flip) &* 0x0101_0101
        var place = UnsafeMutableRawPointer(target)
        while column < columns &- 1 {
          unsafe place.storeBytes(of: line[column] ^ mask, as: UInt32.self)
          unsafe place += 3
          column &+= 1
        }
      }
    #endif
    let bytes = unsafe UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self)
    while column < columns {
      unsafe target[3 &* column] = bytes[4 &* column &+ first] ^ flip
      unsafe target[3 &* column &+ 1] = bytes[4 &* column &+ second] ^ flip
      unsafe target[3 &* column &+ 2] = bytes[4 &* column &+ third] ^ flip
      column &+= 1
    }
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
