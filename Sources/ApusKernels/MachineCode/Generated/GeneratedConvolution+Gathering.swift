extension GeneratedConvolution {
  /// Copies the part of the input that a tile reads into `scratch`, with padding around it; words are converted.
  ///
  /// Lines `first..<end` are output rows of `image`, or pixels where the plan is dense.
  func gather(
    _ input: UnsafeRawPointer, image: Int, group: Int, first: Int, end: Int,
    to scratch: UnsafeMutableRawPointer
  ) {
    switch convolution.operands {
    case .float32:
      unsafe gather(
        input, Copy<Float>(padding: 0), image: image, group: group, first: first, end: end, to: scratch)
    case .uint8(let zeroPoint, _), .int8(let zeroPoint, _):
      if plan.product == .words, let operands {
        let conversion = CenteredInt16(
          signFlip: operands.signFlip, zeroPoint: Int16(truncatingIfNeeded: operands.lhsZeroPoint),
          code: widening)
        unsafe gather(input, conversion, image: image, group: group, first: first, end: end, to: scratch)
      } else {
        let conversion = Copy<UInt8>(padding: UInt8(truncatingIfNeeded: zeroPoint))
        unsafe gather(input, conversion, image: image, group: group, first: first, end: end, to: scratch)
      }
    case .hybrid:
      unsafe gather(
        input, Copy<Int16>(padding: 0), image: image, group: group, first: first, end: end, to: scratch)
    default: break
    }
  }

  @inline(__always)
  private func gather<Conversion: LaneConversion>(
    _ input: UnsafeRawPointer, _ conversion: Conversion, image: Int, group: Int, first: Int, end: Int,
    to scratch: UnsafeMutableRawPointer
  ) {
    let lanes = unsafe scratch.assumingMemoryBound(to: Conversion.Lane.self)
    let element = Conversion.elementByteCount
    let channels = convolution.channelsPerGroup
    let isWhole = convolution.groups == 1
    if plan.isDense {
      let start = unsafe input + (first &* convolution.inputChannels &+ group &* channels) &* element
      if isWhole {
        unsafe conversion.convert(start, to: lanes, count: (end &- first) &* channels)
      } else {
        for row in 0..<end &- first {
          unsafe conversion.convert(
            start + row &* convolution.inputChannels &* element, to: lanes + row &* channels, count: channels)
        }
      }
      return
    }
    let rowCount =
      (end &- first &- 1) &* convolution.strideHeight
      &+ (convolution.filterHeight &- 1) &* convolution.dilationHeight &+ 1
    let top = first &* convolution.strideHeight &- convolution.paddingTop
    // Columns of the plane that lie in the input.
    let left = min(convolution.paddingLeft, plan.planeWidth)
    let inside = max(0, min(plan.planeWidth &- left, convolution.inputWidth))
    let lanesPerRow = plan.planeWidth &* channels
    for row in 0..<rowCount {
      let destination = unsafe lanes + row &* lanesPerRow
      let y = top &+ row
      guard y >= 0, y < convolution.inputHeight else {
        unsafe destination.update(repeating: conversion.padding, count: lanesPerRow)
        continue
      }
      unsafe destination.update(repeating: conversion.padding, count: left &* channels)
      let source =
        unsafe input
        + ((image &* convolution.inputHeight &+ y) &* convolution.inputWidth &* convolution.inputChannels
          &+ group &* channels) &* element
      if isWhole {
        unsafe conversion.convert(source, to: destination + left &* channels, count: inside &* channels)
      } else {
        for column in 0..<inside {
          unsafe conversion.convert(
            source + column &* convolution.inputChannels &* element,
            to: destination + (left &+ column) &* channels,
            count: channels)
        }
      }
      let filled = left &+ inside
      unsafe (destination + filled &* channels).update(
        repeating: conversion.padding, count: (plan.planeWidth &- filled) &* channels)
    }
  }
}

/// Elements as they are.
struct Copy<Lane: BitwiseCopyable>: LaneConversion {
  let padding: Lane

  static var elementByteCount: Int { MemoryLayout<Lane>.stride }

  @inline(__always)
  func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Lane>, count: Int) {
    unsafe UnsafeMutableRawPointer(lanes).copyMemory(
      from: source, byteCount: count &* MemoryLayout<Lane>.stride)
  }
}
