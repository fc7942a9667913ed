// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// How a window slides over an `N×D×H×W×C` array.
package struct VolumeWindow: Sendable {
  /// The number of arrays.
  package var batches: Int
  /// Depth, height and width.
  package var axes: [WindowAxis]
  /// The channels of an element of the array.
  package var channels: Int

  /// Describes a window; the caller has checked that sizes are positive and products do not overflow.
  package init(batches: Int, axes: [WindowAxis], channels: Int) {
    self.batches = batches
    self.axes = axes
    self.channels = channels
  }

  /// The number of lines of positions: all but the innermost dimension.
  package var lineCount: Int { batches * axes[0].places * axes[1].places }
  /// The elements under the window.
  package var depth: Int { axes.reduce(channels) { $0 * $1.taps } }

  /// Gathers images of `H×W×dC` floats, one per position along each array's depth: the layers in the window,
  /// side by side as channels; zeros outside.
  package func gather(
    _ input: RawSpan, images: Range<Int>, to target: inout MutableRawSpan, threads: ThreadTeam
  ) {
    let layerCount = axes[1].size * axes[2].size * channels
    precondition(
      images.lowerBound >= 0 && images.upperBound <= batches * axes[0].places
        && input.byteCount >= batches * axes[0].size * layerCount * 4
        && target.byteCount >= images.count * axes[0].taps * layerCount * 4)
    unsafe input.withUnsafeBytes { input in
      unsafe target.withUnsafeMutableBytes { target in
        guard let input = input.baseAddress, let target = target.baseAddress else { return }
        let work = unsafe GatherWork(window: self, input: input, target: target, first: images.lowerBound)
        threads.run(tiles: images.count &* axes[1].size, work)
      }
    }
  }

  /// One run of gathering, whose tiles are lines of images.
  @safe private struct GatherWork: TileWork {
    static var mayStop: Bool { true }

    let window: VolumeWindow
    let input: UnsafeRawPointer
    let target: UnsafeMutableRawPointer
    let first: Int

    func run(tile: Int, worker: Int) {
      let (axis, height, width) = (window.axes[0], window.axes[1].size, window.axes[2].size)
      let (image, line) = (first &+ tile / height, tile % height)
      let (batch, place) = (image / axis.places, image % axis.places)
      let byteCount = window.channels &* 4
      let pixelByteCount = axis.taps &* byteCount
      for tap in 0..<axis.taps {
        let to = unsafe target + (tile &* width &* pixelByteCount &+ tap &* byteCount)
        if let layer = axis.element(at: place, under: tap) {
          let start = (batch &* axis.size &+ layer) &* height &+ line
          unsafe copyUnits(
            StridedCopy.Loop(count: width, source: byteCount, destination: pixelByteCount), run: byteCount,
            input + start &* width &* byteCount, to)
        } else {
          for pixel in 0..<width {
            unsafe (to + pixel &* pixelByteCount).initializeMemory(
              as: UInt8.self, repeating: 0, count: byteCount)
          }
        }
      }
    }
  }

  /// Calls `body` with the index of each tap's element; nil outside the array.
  @inline(__always)
  private func forEachTap(line: Int, place: Int, _ body: (Int?) -> Void) {
    let (depths, rows, columns) = (axes[0], axes[1], axes[2])
    let (image, row) = (line / rows.places, line % rows.places)
    let (batch, layer) = (image / depths.places, image % depths.places)
    for tapZ in 0..<depths.taps {
      let z = depths.element(at: layer, under: tapZ)
      for tapY in 0..<rows.taps {
        let y = rows.element(at: row, under: tapY)
        for tapX in 0..<columns.taps {
          guard let z, let y, let x = columns.element(at: place, under: tapX) else {
            body(nil)
            continue
          }
          body(((batch &* depths.size &+ z) &* rows.size &+ y) &* columns.size &+ x)
        }
      }
    }
  }

  /// Adds rows of floats, one per position of some lines, to the elements in the window at that position.
  package func scatter(
    _ rows: RawSpan, lines: Range<Int>, to output: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(
      output.byteCount >= axes.reduce(batches * channels * 4) { $0 * $1.size }
        && rows.byteCount >= lines.count * axes[2].places * depth * 4)
    unsafe rows.withUnsafeBytes { rows in
      unsafe output.withUnsafeMutableBytes { output in
        guard let rows = rows.baseAddress, let output = output.baseAddress else { return }
        var source = unsafe rows.assumingMemoryBound(to: Float.self)
        let target = unsafe output.assumingMemoryBound(to: Float.self)
        var poll = StopPoll(threads)
        let depth = depth
        for line in lines {
          for place in 0..<axes[2].places {
            if poll.mustStop(before: depth) { return }
            forEachTap(line: line, place: place) { element in
              if let element { unsafe addFloats(source, to: target + element &* channels, count: channels) }
              unsafe source += channels
            }
          }
        }
      }
    }
  }

  /// Adds a bias of each channel, if there is one, to every element, and clamps.
  package static func finish(
    _ output: inout MutableRawSpan, channels: Int, bias: RawSpan?, minimum: Float, maximum: Float
  ) {
    guard let bounds = FloatBounds(.float32(minimum: minimum, maximum: maximum)), channels > 0 else { return }
    let count = output.byteCount / 4 / channels
    unsafe output.withUnsafeMutableBytes { output in
      guard let output = output.baseAddress else { return }
      let values = unsafe output.assumingMemoryBound(to: Float.self)
      for element in 0..<count {
        let first = unsafe values + element &* channels
        if let bias {
          precondition(bias.byteCount >= channels * 4)
          unsafe bias.withUnsafeBytes { bias in
            guard let bias = bias.baseAddress else { return }
            unsafe addFloats(bias.assumingMemoryBound(to: Float.self), to: first, count: channels)
          }
        }
        for channel in 0..<channels {
          unsafe first[channel] = bounds.clamp(SIMD4(repeating: first[channel]))[0]
        }
      }
    }
  }
}

@inline(__always)
private func addFloats(_ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, count: Int) {
  var index = 0
  while index &+ 4 <= count {
    let sum = unsafe load4(target, index) + load4(source, index)
    unsafe UnsafeMutableRawPointer(target + index).storeBytes(of: sum, as: SIMD4<Float>.self)
    index &+= 4
  }
  while index < count {
    unsafe target[index] += source[index]
    index &+= 1
  }
}
