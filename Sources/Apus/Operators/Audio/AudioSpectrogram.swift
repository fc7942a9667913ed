// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `AudioSpectrogram`: the spectra of overlapping windows of sound, `samples × channels`, as `channels × windows ×
/// frequencies`.
struct AudioSpectrogram: Operator {
  private let kernel: SpectrogramKernel
  private let input: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let options = try node.flexBufferOptions()
    let windowLength = try node.integer("window_size", of: options, in: 2...RFFT2D.limit)
    let stride = try node.integer("stride", of: options, in: 1...Int(Int32.max))
    let input = try node.input(0, types: [.float32], rank: 2)
    let (samples, channels) = (input.shape[0], input.shape[1])
    let frames = samples < windowLength ? 0 : 1 + (samples - windowLength) / stride
    let frequencies = SpectrogramKernel.transformLength(windowLength) / 2 + 1
    let output = try node.output(0, shape: [channels, frames, frequencies], types: [.float32])
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    try node.check(plainWork: Double(output.shape.elementCount) * 64)
    // The transform's factors and order, and the shape of the window.
    try node.keep(tablesOf: 2 * frequencies, entryByteCount: 24)
    let kernel = SpectrogramKernel(
      channels: channels, frames: frames, stride: stride, windowLength: windowLength,
      isSquared: options.bool("magnitude_squared"))
    let scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    return AudioSpectrogram(kernel: kernel, input: input, output: output, scratch: scratch)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var work = tensors.writeBytes(scratch)
    kernel.run(tensors.readBytes(input), to: &result, scratch: &work, threads: tensors.threads)
  }
}
