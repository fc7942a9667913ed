// SPDX-License-Identifier: Apache-2.0

/// Copies the part of an image that a tile reads to a *plane*, with padding around it, as generated products read it.
struct TileGathering {
  /// What elements become.
  enum Lanes {
    case floats
    /// Bytes as they are, and that of the padding.
    case bytes(padding: UInt8)
    /// Bytes whose highest bit is turned.
    case flippedBytes(FlippedBytes)
    /// Words as they are: quantized floats.
    case words
    /// Unsigned bytes as they are: quantized floats, whose padding is the zero point of the image.
    case quantizedBytes
    /// Bytes as words, minus their zero point.
    case centeredBytes(CenteredInt16)
  }

  let lanes: Lanes
  let inputHeight: Int
  let inputWidth: Int
  let inputChannels: Int
  let paddingTop: Int
  let paddingLeft: Int
  let strideHeight: Int
  /// Rows that one line of outputs reads, from the first to the last.
  let reachHeight: Int
  /// Whether lines are pixels, none of which needs padding.
  let isDense: Bool
  let planeWidth: Int
  /// Channels of a pixel of the plane.
  let channels: Int
  /// Columns of equal phase lie side by side, so many in each phase.
  let phases: Int
  let phaseWidth: Int
  /// How often each channel of the input comes.
  let depthMultiplier: Int
  /// Whether nobody reads rows above and below the image.
  var leavesOutPadding = false

  /// Copies what `lines` of an image's outputs read, from a channel of the output on; `zeroPoint` is that of an image
  /// quantized to bytes.
  func gather(
    _ input: UnsafeRawPointer, image: Int, lines: Range<Int>, firstChannel: Int, zeroPoint: UInt8 = 0,
    to plane: UnsafeMutableRawPointer
  ) {
    unsafe gather(
      input, image: image, lines: lines, columns: 0..<planeWidth, firstChannel: firstChannel,
      zeroPoint: zeroPoint,
      to: plane)
  }

  /// As above, of the padded image's `columns` alone, which are no more than the plane has.
  func gather(
    _ input: UnsafeRawPointer, image: Int, lines: Range<Int>, columns: Range<Int>, firstChannel: Int,
    zeroPoint: UInt8 = 0, to plane: UnsafeMutableRawPointer
  ) {
    precondition(columns.lowerBound >= 0 && columns.count <= planeWidth)
    switch lanes {
    case .floats:
      unsafe gather(
        input, Copy<Float>(padding: 0), image: image, lines: lines, columns: columns,
        firstChannel: firstChannel, to: plane)
    case .bytes(let padding):
      unsafe gather(
        input, Copy(padding: padding), image: image, lines: lines, columns: columns,
        firstChannel: firstChannel, to: plane)
    case .flippedBytes(let conversion):
      unsafe gather(
        input, conversion, image: image, lines: lines, columns: columns,
        firstChannel: firstChannel, to: plane)
    case .words:
      unsafe gather(
        input, Copy<Int16>(padding: 0), image: image, lines: lines, columns: columns,
        firstChannel: firstChannel, to: plane)
    case .quantizedBytes:
      unsafe gather(
        input, Copy(padding: zeroPoint), image: image, lines: lines, columns: columns,
        firstChannel: firstChannel, to: plane)
    case .centeredBytes(let conversion):
      unsafe gather(
        input, conversion, image: image, lines: lines, columns: columns,
        firstChannel: firstChannel, to: plane)
    }
  }

  @inline(__always)
  private func gather<Conversion: LaneConversion>(
    _ input: UnsafeRawPointer, _ conversion: Conversion, image: Int, lines: Range<Int>, columns: Range<Int>,
    firstChannel: Int, to plane: UnsafeMutableRawPointer
  ) {
    let lanes = unsafe plane.assumingMemoryBound(to: Conversion.Lane.self)
    let pixelByteCount = inputChannels &* Conversion.elementByteCount
    if isDense {
      unsafe copy(
        input + lines.lowerBound &* pixelByteCount, conversion, pixels: lines.count,
        firstChannel: firstChannel, to: lanes)
      return
    }
    let rowCount = (lines.count &- 1) &* strideHeight &+ reachHeight
    let top = lines.lowerBound &* strideHeight &- paddingTop
    // Columns of the plane that lie in the input, and those of the input before them.
    let left = min(max(0, paddingLeft &- columns.lowerBound), columns.count)
    let skipped = max(0, columns.lowerBound &- paddingLeft)
    let inside = max(0, min(columns.count &- left, inputWidth &- skipped))
    let lanesPerRow = phases &* phaseWidth &* channels
    for row in 0..<rowCount {
      let destination = unsafe lanes + row &* lanesPerRow
      let y = top &+ row
      guard y >= 0, y < inputHeight else {
        if leavesOutPadding { continue }
        unsafe destination.update(repeating: conversion.padding, count: lanesPerRow)
        continue
      }
      let source =
        unsafe input + ((image &* inputHeight &+ y) &* inputWidth &+ min(skipped, inputWidth))
        &* pixelByteCount
      guard phases == 1, depthMultiplier == 1 else {
        unsafe gatherColumns(
          source, conversion, firstChannel: firstChannel, left: left, inside: inside, to: destination)
        continue
      }
      unsafe destination.update(repeating: conversion.padding, count: left &* channels)
      unsafe copy(
        source, conversion, pixels: inside, firstChannel: firstChannel, to: destination + left &* channels)
      let filled = left &+ inside
      unsafe (destination + filled &* channels).update(
        repeating: conversion.padding, count: (columns.count &- filled) &* channels)
    }
  }

  /// Pixels that lie side by side, all their channels or some.
  @inline(__always)
  private func copy<Conversion: LaneConversion>(
    _ source: UnsafeRawPointer, _ conversion: Conversion, pixels: Int, firstChannel: Int,
    to lanes: UnsafeMutablePointer<Conversion.Lane>
  ) {
    guard channels < inputChannels else {
      unsafe conversion.convert(source, to: lanes, count: pixels &* channels)
      return
    }
    let existing = min(channels, inputChannels &- firstChannel)
    if existing == channels {
      return unsafe conversion.convert(
        source + firstChannel &* Conversion.elementByteCount,
        step: inputChannels &* Conversion.elementByteCount, to: lanes, count: channels, runs: pixels)
    }
    for pixel in 0..<pixels {
      let place = pixel &* inputChannels &+ firstChannel
      unsafe conversion.convert(
        source + place &* Conversion.elementByteCount, to: lanes + pixel &* channels, count: existing)
    }
  }

  /// A row column by column: those of equal phase side by side, channels repeated.
  @inline(__always)
  private func gatherColumns<Conversion: LaneConversion>(
    _ source: UnsafeRawPointer, _ conversion: Conversion, firstChannel: Int, left: Int, inside: Int,
    to row: UnsafeMutablePointer<Conversion.Lane>
  ) {
    if inputChannels == 1, depthMultiplier == 1 {
      for phase in 0..<phases {
        for index in 0..<phaseWidth {
          let x = index &* phases &+ phase &- left
          let place = unsafe row + (phase &* phaseWidth &+ index)
          if x < 0 || x >= inside {
            unsafe place.pointee = conversion.padding
          } else {
            unsafe conversion.convert(source + x &* Conversion.elementByteCount, to: place, count: 1)
          }
        }
      }
      return
    }
    let existing = min(channels, inputChannels &* depthMultiplier &- firstChannel)
    for phase in 0..<phases {
      var place = unsafe row + phase &* phaseWidth &* channels
      var x = phase &- left
      for _ in 0..<phaseWidth {
        if x < 0 || x >= inside {
          unsafe place.update(repeating: conversion.padding, count: channels)
        } else {
          let pixel = unsafe source + x &* inputChannels &* Conversion.elementByteCount
          if depthMultiplier == 1 {
            unsafe conversion.convert(
              pixel + firstChannel &* Conversion.elementByteCount, to: place, count: existing)
          } else {
            unsafe repeatChannels(
              pixel, conversion, from: firstChannel, count: existing, to: UnsafeMutableRawPointer(place))
          }
        }
        unsafe place += channels
        x &+= phases
      }
    }
  }

  /// So many of a pixel's channels, each as often as the multiplier says. What is stored beyond them is overwritten: there is
  /// room for a vector behind the last pixel.
  @inline(__always)
  private func repeatChannels<Conversion: LaneConversion>(
    _ pixel: UnsafeRawPointer, _ conversion: Conversion, from first: Int, count: Int,
    to place: UnsafeMutableRawPointer
  ) {
    let width = MemoryLayout<Conversion.Lane>.stride
    var (source, missing) = first.quotientAndRemainder(dividingBy: depthMultiplier)
    missing = depthMultiplier &- missing
    let end = count &* width
    var start = 0
    while start < end {
      var lane = conversion.padding
      unsafe conversion.convert(pixel + source &* Conversion.elementByteCount, to: &lane, count: 1)
      let lanes = SIMD8(repeating: lane)
      let next = start &+ missing &* width
      let last = min(next, end)
      while start < last {
        unsafe place.storeBytes(of: lanes, toByteOffset: start, as: SIMD8<Conversion.Lane>.self)
        start &+= 8 &* width
      }
      start = next
      source &+= 1
      missing = depthMultiplier
    }
  }
}

extension TileGathering.Lanes {
  /// What a product multiplies, `flips` saying whether bytes of the other sign, perhaps by `flipping`; `widening` answers
  /// what makes words of bytes, signed or not.
  init(
    _ product: ProductKind, _ operands: ByteOperands?, isHybrid: Bool, flips: Bool,
    flipping: FlippingCode?,
    widening: (_ isSigned: Bool) -> WideningCode?
  ) {
    guard let operands else {
      self = .floats
      return
    }
    let zeroPoint = operands.lhsZeroPoint
    if isHybrid {
      self = product == .words ? .words : .quantizedBytes
    } else if product == .words {
      self = .centeredBytes(
        CenteredInt16(
          signFlip: operands.signFlip, zeroPoint: Int16(truncatingIfNeeded: zeroPoint),
          code: widening(operands.signFlip != 0)))
    } else {
      let padding = UInt8(truncatingIfNeeded: zeroPoint) ^ operands.signFlip
      self = flips ? .flippedBytes(.init(padding: padding ^ 0x80, code: flipping)) : .bytes(padding: padding)
    }
  }
}
