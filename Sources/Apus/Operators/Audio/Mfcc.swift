// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `Mfcc`: mel-frequency cepstral coefficients of squared spectra, `channels × stretches × frequencies`; the second
/// input is the sample rate in hertz.
struct Mfcc: Operator {
  private let kernel: CepstrumKernel
  private let input: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot

  /// The maximum number of bands.
  private static let limit = 1024

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let options = try node.flexBufferOptions()
    let bands = try node.integer("filterbank_channel_count", of: options, in: 1...limit)
    let coefficients = try node.integer("dct_coefficient_count", of: options, in: 1...bands)
    let lower = try node.integer("lower_frequency_limit", of: options, in: 0...Int(Int32.max) - 1)
    let upper = try node.integer("upper_frequency_limit", of: options, in: lower + 1...Int(Int32.max))
    let input = try node.input(0, types: [.float32], rank: 3)
    let rate = try node.integer(of: node.input(1, types: [.int32]))
    guard rate > 0 else { throw node.malformed("the sample rate is \(rate), not above zero") }
    guard (2...RFFT2D.limit).contains(input.shape[2]) else {
      throw node.malformed(
        "\(input.name) has \(input.shape[2]) frequencies, not 2 to \(RFFT2D.limit)")
    }
    // The band of each frequency, and its share in it; the cosines.
    try node.keep(tablesOf: input.shape[2], entryByteCount: 16)
    try node.keep(tablesOf: bands * coefficients, entryByteCount: 8)
    let output = try node.output(
      0, shape: [input.shape[0], input.shape[1], coefficients], types: [.float32])
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    try node.check(
      plainWork: Double(input.shape[0]) * Double(input.shape[1])
        * (Double(input.shape[2]) + Double(bands) * Double(coefficients)))
    // The reference keeps the limits in single precision.
    let kernel = CepstrumKernel(
      rows: input.shape[0] * input.shape[1],
      .init(
        frequencies: input.shape[2], sampleRate: Double(rate), lowerLimit: Double(Float(lower)),
        upperLimit: Double(Float(upper)), bands: bands, coefficients: coefficients))
    let scratch = try node.scratch(byteCount: kernel.scratchByteCount(threads: node.threadCount))
    return Mfcc(kernel: kernel, input: input, output: output, scratch: scratch)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var work = tensors.writeBytes(scratch)
    kernel.run(tensors.readBytes(input), to: &result, scratch: &work, threads: tensors.threads)
  }
}
