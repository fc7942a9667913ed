// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// How a window slides over an `N×D×H×W×C` array; each triple is depth, height, width.
package struct VolumeWindow: Sendable {
  /// The number of arrays.
  package var batches: Int
  /// The sizes over which the window slides.
  package var size: [Int]
  /// The channels of an element of the array.
  package var channels: Int
  /// The number of positions of the window.
  package var places: [Int]
  /// The sizes of the window.
  package var taps: [Int]
  /// The strides of the window.
  package var strides: [Int]
  /// The dilations of the window.
  package var dilations: [Int]
  /// The padding before the array.
  package var padding: [Int]

  /// Describes a window; the caller has checked that sizes are positive and products do not overflow.
  package init(
    batches: Int, size: [Int], channels: Int, places: [Int], taps: [Int], strides: [Int], dilations: [Int],
    padding: [Int]
  ) {
    self.batches = batches
    self.size = size
    self.channels = channels
    self.places = places
    self.taps = taps
    self.strides = strides
    self.dilations = dilations
    self.padding = padding
  }

  /// The number of lines of positions: all but the innermost dimension.
  package var lineCount: Int { batches * places[0] * places[1] }
  /// The elements under the window.
  package var depth: Int { taps[0] * taps[1] * taps[2] * channels }

  /// Gathers images of `H×W×dC` floats, one per position along each array's depth: the layers in the window,
  /// side by side as channels; zeros outside.
  package func gather(
    _ input: RawSpan, images: Range<Int>, to target: inout MutableRawSpan, threads: ThreadTeam
  ) {
    let layerCount = size[1] * size[2] * channels
    precondition(
      images.lowerBound >= 0 && images.upperBound <= batches * places[0]
        && input.byteCount >= batches * size[0] * layerCount * 4
        && target.byteCount >= images.count * taps[0] * layerCount * 4)
    unsafe input.withUnsafeBytes { input in
      unsafe target.withUnsafeMutableBytes { target in
        guard let input = input.baseAddress, let target = target.baseAddress else { return }
        let work = unsafe GatherWork(window: self, input: input, target: target, first: images.lowerBound)
        threads.run(tiles: images.count &* size[1], work)
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
      let (image, line) = (first &+ tile / window.size[1], tile % window.size[1])
      let (batch, place) = (image / window.places[0], image % window.places[0])
      let (width, byteCount) = (window.size[2], window.channels &* 4)
      let pixelByteCount = window.taps[0] &* byteCount
      for tap in 0..<window.taps[0] {
        let layer = place &* window.strides[0] &- window.padding[0] &+ tap &* window.dilations[0]
        let to = unsafe target + (tile &* width &* pixelByteCount &+ tap &* byteCount)
        if layer >= 0 && layer < window.size[0] {
          let start = (batch &* window.size[0] &+ layer) &* window.size[1] &+ line
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
    let row = line % places[1]
    let layer = line / places[1] % places[0]
    let batch = line / places[1] / places[0]
    let (z0, y0) = (layer &* strides[0] &- padding[0], row &* strides[1] &- padding[1])
    let x0 = place &* strides[2] &- padding[2]
    for tapZ in 0..<taps[0] {
      let z = z0 &+ tapZ &* dilations[0]
      for tapY in 0..<taps[1] {
        let y = y0 &+ tapY &* dilations[1]
        let isInside = z >= 0 && z < size[0] && y >= 0 && y < size[1]
        let start = ((batch &* size[0] &+ z) &* size[1] &+ y) &* size[2]
        for tapX in 0..<taps[2] {
          let x = x0 &+ tapX &* dilations[2]
          body(isInside && x >= 0 && x < size[2] ? start &+ x : nil)
        }
      }
    }
  }

  /// Adds rows of floats, one per position of some lines, to the elements in the window at that position.
  package func scatter(
    _ rows: RawSpan, lines: Range<Int>, to output: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(
      output.byteCount >= batches * size[0] * size[1] * size[2] * channels * 4
        && rows.byteCount >= lines.count * places[2] * depth * 4)
    unsafe rows.withUnsafeBytes { rows in
      unsafe output.withUnsafeMutableBytes { output in
        guard let rows = rows.baseAddress, let output = output.baseAddress else { return }
        var source = unsafe rows.assumingMemoryBound(to: Float.self)
        let target = unsafe output.assumingMemoryBound(to: Float.self)
        var poll = StopPoll(threads)
        for line in lines {
          for place in 0..<places[2] {
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
