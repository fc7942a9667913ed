// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// The work for one thread's tile: for each batch, the transform of the inputs; then for each panel, the
/// transform of its weights, the products, and the transform of the outputs.
extension WinogradKernel {
  /// Some of a tile's Winograd tiles, which are numbered line by line.
  private struct Batch {
    let squares: Range<Int>
    let image: Int
    /// The tile's first line of Winograd tiles.
    let firstLine: Int
  }

  func run(_ work: Work, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (cut, tiling) = (work.cut, work.cut.tiling)
    let (imageTile, panelTile) = tile.quotientAndRemainder(dividingBy: tiling.panelTiles)
    let (image, tileOfImage) = imageTile.quotientAndRemainder(dividingBy: tiling.tilesPerImage)
    let lines = tiling.range(tileOfImage)
    let panels = tiling.panels(panelTile)
    let (first, end) = (lines.lowerBound &* plan.variant.side, lines.upperBound &* plan.variant.side)
    unsafe gathering.gather(work.input, image: image, lines: first..<end, firstChannel: 0, to: scratch)
    let squares = lines.count &* plan.across
    let batches = plan.batchCount(squares)
    for index in 0..<batches {
      let batch = Batch(
        squares: share(of: squares, tile: index, of: batches), image: image, firstLine: lines.lowerBound)
      unsafe transformInputs(batch, cut, scratch)
      for panel in panels {
        unsafe transformWeights(plan.panels[panel], work, scratch)
        unsafe multiply(batch, plan.panels[panel], cut, scratch)
        unsafe work.code._withUnsafeGuaranteedRef { code in
          unsafe transformOutputs(batch, panel, code, work, scratch)
        }
      }
    }
    if let postOperations = unsafe work.postOperations {
      let last = plan.panels[panels.upperBound &- 1]
      let (top, width) = (image &* convolution.outputHeight, convolution.outputWidth)
      let bottom = top &+ min(end, convolution.outputHeight)
      unsafe postOperations._withUnsafeGuaranteedRef {
        unsafe $0.apply(
          to: work.output.assumingMemoryBound(to: Float.self), other: work.other,
          pixels: (top &+ first) &* width..<bottom &* width,
          channels: plan.panels[panels.lowerBound].firstColumn..<last.firstColumn &+ last.columnCount,
          of: convolution.outputChannels)
      }
    }
  }

  /// Calls `body` for each run of horizontally neighboring Winograd tiles: the first one's index in the
  /// batch, its line and column, and the number of them.
  @inline(__always)
  private func forEachRun(
    _ batch: Batch, _ body: (_ square: Int, _ line: Int, _ column: Int, _ count: Int) -> Void
  ) {
    var square = batch.squares.lowerBound
    while square < batch.squares.upperBound {
      let (line, column) = square.quotientAndRemainder(dividingBy: plan.across)
      let count = min(plan.across &- column, batch.squares.upperBound &- square)
      body(square &- batch.squares.lowerBound, line, column, count)
      square &+= count
    }
  }

  private func transformInputs(
    _ batch: Batch, _ cut: WinogradPlan.Cut, _ scratch: UnsafeMutableRawPointer
  ) {
    let variant = plan.variant
    let (side, pixelByteCount) = (variant.side, convolution.inputChannels &* variant.elementByteCount)
    var arguments = ConvolutionArguments()
    arguments.rowStride = pixelByteCount
    arguments.lineStride = plan.planeWidth &* pixelByteCount
    arguments.pointStride = cut.inputStride
    arguments.vectors = plan.channelVectors
    let vectorElements = plan.vectorByteCount / 4 &* variant.channelsPerStep
    arguments.squareStride =
      side &* pixelByteCount &- plan.channelVectors &* vectorElements &* variant.elementByteCount
    unsafe arguments.spare = Int(bitPattern: scratch + cut.spare)
    if let operands { arguments.constant = 6 &* Int(operands.loaded(operands.lhsZeroPoint)) }
    forEachRun(batch) { square, line, column, count in
      let pixel = line &* side &* plan.planeWidth &+ column &* side
      unsafe arguments.rows = Int(bitPattern: scratch + pixel &* pixelByteCount)
      unsafe arguments.output = Int(bitPattern: scratch + cut.inputs + square &* plan.rowByteCount)
      arguments.blocks = count
      inputs.call(&arguments)
    }
    guard variant == .floats else { return }
    // The last block may have more rows than the batch. Those must not be denormal floats, which are slow.
    let end = batch.squares.count &* plan.rowByteCount
    let missing = plan.blockRows(batch.squares.count) &* plan.rowByteCount &- end
    for point in 0..<variant.points {
      let place = cut.inputs &+ point &* cut.inputStride &+ end
      unsafe (scratch + place).initializeMemory(as: UInt8.self, repeating: 0, count: missing)
    }
  }

  private func transformWeights(
    _ panel: WinogradPlan.Panel, _ work: Work, _ scratch: UnsafeMutableRawPointer
  ) {
    var arguments = ConvolutionArguments()
    unsafe arguments.rows = Int(bitPattern: work.packed + weightPacking.weights(panel))
    unsafe arguments.output = Int(bitPattern: scratch + work.cut.weights)
    arguments.pointStride = work.cut.weightStride
    arguments.blocks = weightPacking.vectors(panel)
    arguments.constant = Int(Float(0.5).bitPattern)
    if let operands {
      arguments.constant = 6 << 16 | Int(operands.loaded(operands.rhsZeroPoint)) & 0xFFFF
    }
    weights.call(&arguments)
  }

  private func multiply(
    _ batch: Batch, _ panel: WinogradPlan.Panel, _ cut: WinogradPlan.Cut,
    _ scratch: UnsafeMutableRawPointer
  ) {
    let (large, small) = plan.blocks(batch.squares.count)
    var arguments = ConvolutionArguments()
    arguments.rowStride = plan.rowByteCount
    unsafe arguments.taps = Int(bitPattern: tap)
    arguments.tapCount = 1
    arguments.outputStride = panel.vectorCount &* plan.vectorByteCount
    for point in 0..<plan.variant.points {
      unsafe arguments.rows = Int(bitPattern: scratch + cut.inputs + point &* cut.inputStride)
      unsafe arguments.weights = Int(bitPattern: scratch + cut.weights + point &* cut.weightStride)
      unsafe arguments.output = Int(bitPattern: scratch + cut.sums + point &* cut.sumStride)
      if large > 0 {
        arguments.blocks = large
        products.call(rows: plan.largeRows, columns: panel.paddedCount, &arguments)
        arguments.rows &+= large &* plan.largeRows &* arguments.rowStride
        arguments.output &+= large &* plan.largeRows &* arguments.outputStride
      }
      if small > 0 {
        arguments.blocks = small
        products.call(rows: plan.smallRows, columns: panel.paddedCount, &arguments)
      }
    }
  }

  private func transformOutputs(
    _ batch: Batch, _ index: Int, _ code: EpilogueCode, _ work: Work, _ scratch: UnsafeMutableRawPointer
  ) {
    let panel = plan.panels[index]
    let (side, elementByteCount) = (plan.variant.side, plan.variant.elementByteCount)
    let (width, height) = (convolution.outputWidth, convolution.outputHeight)
    let pixelByteCount = convolution.outputChannels &* elementByteCount
    let rowByteCount = panel.vectorCount &* plan.vectorByteCount
    var arguments = ConvolutionArguments()
    arguments.pointStride = work.cut.sumStride
    arguments.outputStride = pixelByteCount
    arguments.outputLineStride = width &* pixelByteCount
    unsafe arguments.offsets = Int(
      bitPattern: work.packed + weightPacking.offsets + panel.paddedBefore &* 4)
    arguments.factors = code.factors(index)
    unsafe arguments.spare = Int(bitPattern: scratch + work.cut.spare)
    // The inverse of 9 modulo 2³².
    arguments.constant = 0x38E3_8E39
    let output = unsafe work.output + panel.firstColumn &* elementByteCount
    forEachRun(batch) { square, line, column, count in
      let (y, x) = ((batch.firstLine &+ line) &* side, column &* side)
      let pixel = (batch.image &* height &+ y) &* width &+ x
      unsafe arguments.rows = Int(bitPattern: scratch + work.cut.sums + square &* rowByteCount)
      unsafe arguments.output = Int(bitPattern: output + pixel &* pixelByteCount)
      arguments.lines = min(side, height &- y)
      // The last Winograd tile of a line may be incomplete.
      let whole = min(count, (width &- x) / side)
      if whole > 0 {
        arguments.blocks = whole
        code.functions.call(rows: side, columns: panel.columnCount, &arguments)
      }
      if whole < count {
        arguments.rows &+= whole &* rowByteCount
        arguments.output &+= whole &* side &* pixelByteCount
        arguments.blocks = 1
        code.functions.call(rows: width % side, columns: panel.columnCount, &arguments)
      }
    }
  }
}

extension ByteOperands {
  /// The zero point of bytes that are loaded without flipping their signs.
  fileprivate func loaded(_ zeroPoint: Int32) -> Int32 { signFlip == 0 ? zeroPoint : zeroPoint &- 128 }
}
