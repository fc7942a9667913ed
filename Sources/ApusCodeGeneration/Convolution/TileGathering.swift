// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// Copies the part of an image that a tile reads, with its padding, to a *plane* that generated products
/// read.
struct TileGathering {
  /// How elements are converted.
  enum Lanes {
    case floats
    /// Floats rounded to bfloat16, as floats.
    case roundedFloats(RoundedFloats)
    /// Floats rounded to bfloat16.
    case roundedHalves(RoundedHalves)
    /// Bytes, unchanged, with this byte as padding.
    case bytes(padding: UInt8)
    /// Bytes with their highest bit flipped.
    case flippedBytes(FlippedBytes)
    /// `int16` values of quantized floats, unchanged.
    case words
    /// Unsigned bytes of quantized floats, unchanged; the padding is the zero point of each image.
    case quantizedBytes
    /// Bytes widened to `int16`, minus their zero point.
    case centeredBytes(CenteredInt16)
  }

  let lanes: Lanes
  let inputHeight: Int
  let inputWidth: Int
  let inputChannels: Int
  let paddingTop: Int
  let paddingLeft: Int
  let strideHeight: Int
  /// Rows of the input from the first to the last that one line of outputs reads.
  let reachHeight: Int
  /// Whether lines are pixels without padding.
  let isDense: Bool
  let planeWidth: Int
  /// Channels per pixel of the plane.
  let channels: Int
  /// Columns whose index has the same remainder modulo `phases` are stored side by side, `phaseWidth` of
  /// them.
  let phases: Int
  let phaseWidth: Int
  /// How many times each channel of the input is repeated.
  let depthMultiplier: Int
  /// Whether rows above and below the image are not written, because the product skips them.
  let leavesOutPadding: Bool

  /// The gathering of a convolution's tiles; by default with columns in order, and each channel once.
  init(
    _ convolution: Convolution, _ lanes: Lanes, planeWidth: Int, channels: Int, isDense: Bool = false,
    phases: Int = 1, depthMultiplier: Int = 1, leavesOutPadding: Bool = false
  ) {
    self.lanes = lanes
    inputHeight = convolution.inputHeight
    inputWidth = convolution.inputWidth
    inputChannels = convolution.inputChannels
    paddingTop = convolution.paddingTop
    paddingLeft = convolution.paddingLeft
    strideHeight = convolution.strideHeight
    reachHeight = convolution.reachHeight
    self.isDense = isDense
    self.planeWidth = planeWidth
    self.channels = channels
    self.phases = phases
    phaseWidth = ceilingQuotient(planeWidth, phases)
    self.depthMultiplier = depthMultiplier
    self.leavesOutPadding = leavesOutPadding
  }

  /// Copies what `lines` of an image's outputs read, from output channel `firstChannel` on.
  ///
  /// - Parameter zeroPoint: the padding of an image that was quantized to bytes.
  func gather(
    _ input: UnsafeRawPointer, image: Int, lines: Range<Int>, firstChannel: Int, zeroPoint: UInt8 = 0,
    to plane: UnsafeMutableRawPointer
  ) {
    unsafe gather(
      input, image: image, lines: lines, columns: 0..<planeWidth, firstChannel: firstChannel,
      zeroPoint: zeroPoint,
      to: plane)
  }

  /// Copies the `columns` of the padded image that `lines` of its outputs read, from output channel
  /// `firstChannel` on.
  ///
  /// - Parameters:
  ///   - columns: no more than the plane has.
  ///   - zeroPoint: the padding of an image that was quantized to bytes.
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
    case .roundedFloats(let conversion):
      unsafe gather(
        input, conversion, image: image, lines: lines, columns: columns,
        firstChannel: firstChannel, to: plane)
    case .roundedHalves(let conversion):
      unsafe gather(
        input, conversion, image: image, lines: lines, columns: columns,
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
    // Columns of padding on the left, columns of the input to skip, and columns to copy.
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

  /// Copies neighboring pixels, with all their channels or a range of them.
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

  /// Copies a row, sorts its columns by phase and repeats its channels.
  @inline(__always)
  private func gatherColumns<Conversion: LaneConversion>(
    _ source: UnsafeRawPointer, _ conversion: Conversion, firstChannel: Int, left: Int, inside: Int,
    to row: UnsafeMutablePointer<Conversion.Lane>
  ) {
    let size = Conversion.elementByteCount
    let step = phases &* inputChannels &* size
    let existing = min(channels, inputChannels &* depthMultiplier &- firstChannel)
    // Whether bytes are repeated by vectors: only whole channels that fill the pixel.
    let repeatsBytes =
      depthMultiplier > 1 && size == 1 && conversion.flips != nil && existing == channels
      && firstChannel % depthMultiplier == 0 && channels % depthMultiplier == 0
    for phase in 0..<phases {
      let line = unsafe row + phase &* phaseWidth &* channels
      // The columns inside the input.
      let x = phase &- left
      let first = x >= 0 ? 0 : min(phaseWidth, ceilingQuotient(0 &- x, phases))
      let end = inside > x ? max(first, min(phaseWidth, ceilingQuotient(inside &- x, phases))) : first
      unsafe line.update(repeating: conversion.padding, count: first &* channels)
      let origin = (x &+ first &* phases) &* inputChannels
      let pixels = unsafe source + origin &* size
      let place = unsafe line + first &* channels
      if depthMultiplier == 1, existing == channels {
        unsafe conversion.convert(
          pixels + firstChannel &* size, step: step, to: place, count: channels, runs: end &- first)
      } else if repeatsBytes, let flips = conversion.flips {
        let channel = firstChannel / depthMultiplier
        unsafe repeatBytes(
          pixels + channel, step: step, count: channels / depthMultiplier,
          room: inside &* inputChannels &- origin &- channel, runs: end &- first, flips: flips, to: place)
      } else {
        for index in 0..<end &- first {
          let pixel = unsafe pixels + index &* step
          if depthMultiplier == 1 {
            unsafe conversion.convert(
              pixel + firstChannel &* size, to: place + index &* channels, count: existing)
          } else {
            unsafe repeatChannels(
              pixel, conversion, from: firstChannel, count: existing,
              to: UnsafeMutableRawPointer(place + index &* channels))
          }
        }
      }
      unsafe (line + end &* channels).update(
        repeating: conversion.padding, count: (phaseWidth &- end) &* channels)
    }
  }

  /// Copies the bytes of pixels that are `step` bytes apart to consecutive pixels, and repeats each
  /// `depthMultiplier` times.
  ///
  /// Stores may go up to two vectors beyond the last pixel; later stores overwrite that.
  ///
  /// - Parameter room: the bytes that can be read from `source` on.
  private func repeatBytes(
    _ source: UnsafeRawPointer, step: Int, count: Int, room: Int, runs: Int, flips: UInt8,
    to target: UnsafeMutableRawPointer
  ) {
    let isDense = step == count
    let (count, runs) = isDense && runs > 0 ? (count &* runs, 1) : (count, runs)
    let turns = SIMD8<UInt8>(repeating: flips)
    let multiplier = depthMultiplier
    for run in 0..<runs {
      let from = unsafe source + run &* step
      let to = unsafe target + run &* count &* multiplier
      let readable = room &- run &* step
      var index = 0
      if multiplier == 2 {
        while index < count, index &+ 8 <= readable {
          let bytes = unsafe from.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self) ^ turns
          unsafe to.storeBytes(of: bytes.doubled, toByteOffset: 2 &* index, as: SIMD16<UInt8>.self)
          index &+= 8
        }
      } else if multiplier == 4 {
        while index < count, index &+ 8 <= readable {
          let bytes = unsafe from.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self) ^ turns
          let pairs = bytes.doubled
          unsafe to.storeBytes(
            of: pairs.lowHalf.doubled, toByteOffset: 4 &* index, as: SIMD16<UInt8>.self)
          unsafe to.storeBytes(
            of: pairs.highHalf.doubled, toByteOffset: 4 &* index &+ 16, as: SIMD16<UInt8>.self)
          index &+= 8
        }
      }
      var place = unsafe to + index &* multiplier
      while index < count {
        let byte = unsafe from.load(fromByteOffset: index, as: UInt8.self) ^ flips
        let lanes = UInt64(byte) &* 0x0101_0101_0101_0101
        unsafe place.storeBytes(of: lanes, as: UInt64.self)
        var offset = 8
        while offset < multiplier {
          unsafe place.storeBytes(of: lanes, toByteOffset: offset, as: UInt64.self)
          offset &+= 8
        }
        unsafe place += multiplier
        index &+= 1
      }
    }
  }

  /// Copies `count` output channels of a pixel, each repeated `depthMultiplier` times. Stores may go up to a
  /// vector beyond the pixel; later stores overwrite that.
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

extension SIMD8<UInt8> {
  /// Each byte twice.
  @inline(__always)
  fileprivate var doubled: SIMD16<UInt8> {
    var result = SIMD16<UInt8>()
    result.evenHalf = self
    result.oddHalf = self
    return result
  }
}

extension TileGathering.Lanes {
  /// The conversion for a product.
  ///
  /// - Parameters:
  ///   - flips: whether signs of bytes are flipped, by `flipping` if there is code for it.
  ///   - widening: returns code that widens signed or unsigned bytes to `int16`, if the target has it.
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
