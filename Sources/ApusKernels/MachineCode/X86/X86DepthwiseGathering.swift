extension X86Depthwise {
  /// Copies the rows that a tile reads into `scratch`, with padding around them; words are converted, and the channels of
  /// a depth multiplier repeated.
  func gather(
    _ input: UnsafeRawPointer, image: Int, chunk: Int, first: Int, end: Int,
    to scratch: UnsafeMutableRawPointer
  ) {
    switch convolution.operands {
    case .float32:
      unsafe gather(
        input, Copy<Float>(padding: 0), image: image, chunk: chunk, first: first, end: end, to: scratch)
    case .uint8(let zeroPoint, _), .int8(let zeroPoint, _):
      if plan.product == .words, let operands {
        let conversion = CenteredInt16(
          signFlip: operands.signFlip, zeroPoint: Int16(truncatingIfNeeded: operands.lhsZeroPoint),
          code: widening)
        unsafe gather(input, conversion, image: image, chunk: chunk, first: first, end: end, to: scratch)
      } else {
        let conversion = Copy<UInt8>(padding: UInt8(truncatingIfNeeded: zeroPoint))
        unsafe gather(input, conversion, image: image, chunk: chunk, first: first, end: end, to: scratch)
      }
    case .hybrid:
      unsafe gather(
        input, Copy<Int16>(padding: 0), image: image, chunk: chunk, first: first, end: end, to: scratch)
    default: break
    }
  }

  @inline(__always)
  private func gather<Conversion: LaneConversion>(
    _ input: UnsafeRawPointer, _ conversion: Conversion, image: Int, chunk: Int, first: Int, end: Int,
    to scratch: UnsafeMutableRawPointer
  ) {
    let lanes = unsafe scratch.assumingMemoryBound(to: Conversion.Lane.self)
    let channels = plan.chunkChannels
    let firstChannel = chunk &* channels
    let isWhole = plan.phases == 1 && convolution.depthMultiplier == 1 && channels == plan.channels
    let rowCount =
      (end &- first &- 1) &* convolution.strideHeight
      &+ (convolution.filterHeight &- 1) &* convolution.dilationHeight &+ 1
    let top = first &* convolution.strideHeight &- convolution.paddingTop
    let left = min(convolution.paddingLeft, plan.planeWidth)
    let inside = max(0, min(plan.planeWidth &- left, convolution.inputWidth))
    let lanesPerRow = plan.phases &* plan.phaseWidth &* channels
    let inputRowByteCount =
      convolution.inputWidth &* convolution.inputChannels &* Conversion.elementByteCount
    for row in 0..<rowCount {
      let destination = unsafe lanes + row &* lanesPerRow
      let y = top &+ row
      guard y >= 0, y < convolution.inputHeight else {
        unsafe destination.update(repeating: conversion.padding, count: lanesPerRow)
        continue
      }
      let source = unsafe input + (image &* convolution.inputHeight &+ y) &* inputRowByteCount
      if isWhole {
        unsafe destination.update(repeating: conversion.padding, count: left &* channels)
        unsafe conversion.convert(source, to: destination + left &* channels, count: inside &* channels)
        let filled = left &+ inside
        unsafe (destination + filled &* channels).update(
          repeating: conversion.padding, count: (plan.phaseWidth &- filled) &* channels)
      } else {
        unsafe gatherColumns(
          source, conversion, firstChannel: firstChannel, left: left, inside: inside, to: destination)
      }
    }
  }

  /// A row column by column, some channels of each: those of equal phase side by side, channels repeated.
  @inline(__always)
  private func gatherColumns<Conversion: LaneConversion>(
    _ source: UnsafeRawPointer, _ conversion: Conversion, firstChannel: Int, left: Int, inside: Int,
    to row: UnsafeMutablePointer<Conversion.Lane>
  ) {
    let channels = plan.chunkChannels
    let existing = min(channels, plan.channels &- firstChannel)
    let multiplier = convolution.depthMultiplier
    for phase in 0..<plan.phases {
      var place = unsafe row + phase &* plan.phaseWidth &* channels
      var x = phase &- left
      for _ in 0..<plan.phaseWidth {
        if x < 0 || x >= inside {
          unsafe place.update(repeating: conversion.padding, count: channels)
        } else {
          let pixel = unsafe source + x &* convolution.inputChannels &* Conversion.elementByteCount
          if multiplier == 1 {
            unsafe conversion.convert(
              pixel + firstChannel &* Conversion.elementByteCount, to: place, count: existing)
          } else {
            var channel = 0
            while channel < existing {
              // All output channels of one input channel.
              let from = (firstChannel &+ channel) / multiplier
              let end = min(existing, (from &+ 1) &* multiplier &- firstChannel)
              unsafe conversion.convert(
                pixel + from &* Conversion.elementByteCount, to: place + channel, count: 1)
              unsafe (place + channel).update(repeating: place[channel], count: end &- channel)
              channel = end
            }
          }
        }
        unsafe place += channels
        x &+= plan.phases
      }
    }
  }
}
