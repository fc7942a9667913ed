// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// The spectra of overlapping frames of sound, each multiplied by a Hann window and zero-padded to a power of
/// two.
package struct SpectrogramKernel: Sendable {
  private let channels: Int
  private let frames: Int
  private let stride: Int
  private let isSquared: Bool
  private let window: Table<Double>
  private let windowLength: Int
  private let transform: RealFourierTransform

  /// Computes the tables for `frames` frames of each channel, `stride` apart.
  ///
  /// - Parameters:
  ///   - windowLength: the length of a frame, 2 or more, up to 2³¹.
  ///   - isSquared: whether results are squared magnitudes.
  package init(channels: Int, frames: Int, stride: Int, windowLength: Int, isSquared: Bool) {
    self.channels = channels
    self.frames = frames
    self.stride = stride
    self.isSquared = isSquared
    self.windowLength = windowLength
    window = Table(count: windowLength) { 0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(windowLength)) }
    transform = RealFourierTransform(count: Self.transformLength(windowLength))
  }

  /// The smallest power of two that is not below the window's length.
  package static func transformLength(_ windowLength: Int) -> Int {
    1 << (Int.bitWidth - (windowLength - 1).leadingZeroBitCount)
  }

  /// The scratch memory of a run, in bytes.
  package func scratchByteCount(threads: Int) -> Int { transform.workCount * threads * 8 }

  /// Transforms floats, `samples × channels`, to `channels × frames × (transform length / 2 + 1)`.
  package func run(
    _ input: RawSpan, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    guard frames > 0, channels > 0 else { return }
    precondition(
      input.byteCount >= ((frames - 1) * stride + windowLength) * channels * 4
        && output.byteCount >= channels * frames * transform.resultCount * 4
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      threads.run(
        tiles: channels * frames,
        unsafe Work(
          kernel: self, input: input.assumingMemoryBound(to: Float.self),
          output: output.assumingMemoryBound(to: Float.self),
          scratch: scratch.assumingMemoryBound(to: Double.self)))
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let kernel: SpectrogramKernel
    let input: UnsafePointer<Float>
    let output: UnsafeMutablePointer<Float>
    let scratch: UnsafeMutablePointer<Double>

    func run(tile: Int, worker: Int) {
      let (channel, frame) = (tile / kernel.frames, tile % kernel.frames)
      let source = unsafe input + frame &* kernel.stride &* kernel.channels + channel
      let work = unsafe scratch + worker &* kernel.transform.workCount
      unsafe kernel.transform.run(work) { index in
        guard index < kernel.windowLength else { return 0 }
        return unsafe Double(source[index &* kernel.channels]) * kernel.window.values[index]
      }
      let count = kernel.transform.resultCount
      let result = unsafe output + tile &* count
      for index in 0..<count {
        let (real, imaginary) = unsafe (work[index], work[count &+ index])
        let square = Float(real * real + imaginary * imaginary)
        unsafe result[index] = kernel.isSquared ? square : square.squareRoot()
      }
    }
  }
}
