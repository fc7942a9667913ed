// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Bilinear interpolation of the rows and columns of an NHWC tensor.
///
/// Floats and uint8 are interpolated in single precision, in the reference's order of operations; int8 and
/// int16 with weights of ten bits. If all fractions are whole sixteenths, as when sizes are doubled, each
/// step is exact, and 16-bit arithmetic gives equal bytes.
package struct BilinearResize: Sendable {
  /// The maximum number of rows or columns of the output.
  package static let maximumSize = 1 << 24

  let elements: ScalarType
  let channels: Int
  let inputHeight: Int
  let inputWidth: Int
  let outputHeight: Int
  let outputWidth: Int
  let vertical: [InterpolationTap]
  let horizontal: [InterpolationTap]
  private let hasSixteenths: Bool
  /// Generated code for bytes whose weights are not whole sixteenths, and the columns in its format; both
  /// replace ``horizontal``.
  let code: ResizeCode?
  let columns: [ResizeCode.Column]
  /// Which kernel set was chosen, and why.
  package let choice: KernelChoice
  private let batches: Int
  private let tiles: Int

  /// Plans a resize, in plain Swift if the set has no code for it; nil if a size is out of range.
  package init?(
    _ elements: ScalarType, batches: Int, inputHeight: Int, inputWidth: Int, channels: Int, outputHeight: Int,
    outputWidth: Int, alignsCorners: Bool, usesHalfPixelCenters: Bool, using set: KernelSet = .portable
  ) {
    let sizes = 1...Self.maximumSize
    guard sizes.contains(inputHeight), sizes.contains(inputWidth), sizes.contains(outputHeight),
      sizes.contains(outputWidth)
    else { return nil }
    self.elements = elements
    self.batches = batches
    self.channels = channels
    self.inputHeight = inputHeight
    self.inputWidth = inputWidth
    self.outputHeight = outputHeight
    self.outputWidth = outputWidth
    let isInteger = elements == .int8 || elements == .int16
    vertical = InterpolationTap.table(
      input: inputHeight, output: outputHeight, alignsCorners: alignsCorners,
      usesHalfPixelCenters: usesHalfPixelCenters,
      isInteger: isInteger)
    let taps = InterpolationTap.table(
      input: inputWidth, output: outputWidth, alignsCorners: alignsCorners,
      usesHalfPixelCenters: usesHalfPixelCenters,
      isInteger: isInteger)
    hasSixteenths = (vertical + taps).allSatisfy { isInteger ? $0.weight & 63 == 0 : $0.isInSixteenths }
    let hasSixteenths = self.hasSixteenths
    (code, choice) = set.choose(otherwise: nil) { set throws(Decline) in
      guard elements == .int8 || elements == .uint8 else {
        throw Decline("elements are \(elements), not int8 or uint8")
      }
      guard !hasSixteenths else {
        throw Decline("weights are multiples of 1/16: portable int16 code")
      }
      return try set.generatedKernels().resize(isSigned: elements == .int8)
    }
    columns = code?.table(taps, channels: channels) ?? []
    horizontal = code == nil ? taps : []
    // No tiles if there is no batch or no channel.
    tiles = channels == 0 ? 0 : min(batches, 1) == 0 ? 0 : batches &* outputHeight
  }

  /// The implementation in the output of `apus inspect --plan`.
  package var implementation: String {
    let weights = hasSixteenths ? "whole sixteenths" : "any weights"
    return code == nil ? "portable loops, \(weights)" : "generated loops, \(weights)"
  }

  /// The lanes of an input row, of four bytes each, with room for a vector beyond the last column.
  var inputLanes: Int { inputWidth * channels + 16 }
  private var outputLanes: Int { outputWidth * channels + 16 }

  /// The scratch memory of one worker: two rows of the input as sums, one of the output.
  private var workerByteCount: Int { roundedUp((2 * inputLanes + outputLanes) * 8, to: 64) }

  /// The size of the scratch memory for a team; nil if it overflows.
  package func scratchByteCount(threads: Int) -> Int? {
    let (input, overflow) = inputWidth.multipliedReportingOverflow(by: channels)
    let (output, more) = outputWidth.multipliedReportingOverflow(by: channels)
    guard !overflow, !more, input < 1 << 48, output < 1 << 48 else { return nil }
    return 64 + threads * workerByteCount
  }

  /// Resizes; the spans must be as large as the tensors, the scratch as ``scratchByteCount(threads:)``.
  package func run(
    _ input: RawSpan, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    guard tiles > 0 else { return }
    if code != nil { ExecutableMemory.seal() }
    precondition(
      input.byteCount >= batches * inputHeight * inputWidth * channels * elements.byteCount
        && output.byteCount >= batches * outputHeight * outputWidth * channels * elements.byteCount
        && scratch.byteCount >= 64 + threads.count * workerByteCount)
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      unsafe withUnsafePointer(to: self) { owner in
        let work = unsafe Work(
          owner: owner, input: input, output: output, scratch: scratch.alignedUp(toMultipleOf: 64))
        threads.run(tiles: tiles, work)
      }
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: UnsafePointer<BilinearResize>
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner.pointee.resizeRow(self, tile, scratch + worker &* owner.pointee.workerByteCount)
    }
  }

  private func resizeRow(_ work: Work, _ row: Int, _ scratch: UnsafeMutableRawPointer) {
    let (batch, line) = (row / outputHeight, row % outputHeight)
    let tap = vertical[line]
    let width = elements.byteCount
    let lane = inputWidth &* channels
    let plane = unsafe work.input + batch &* inputHeight &* lane &* width
    let upper = unsafe plane + tap.lower &* lane &* width
    let lower = unsafe plane + tap.upper &* lane &* width
    let rowByteCount = outputWidth &* channels &* width
    let result = unsafe work.output + row &* rowByteCount
    // Whole vectors are stored, so channels beyond the last are overwritten by the next column. The last
    // columns of a row, after which another tile's memory begins, are computed elsewhere.
    let overhang = ceilingQuotient(roundedUp(channels, to: code?.lanes ?? 8), channels) &- 1
    let direct = max(0, outputWidth &- overhang)
    let rest = unsafe scratch + 2 &* inputLanes &* 8
    unsafe weigh(upper, lower, tap, to: scratch)
    unsafe interpolate(0..<direct, scratch, to: result)
    unsafe interpolate(direct..<outputWidth, scratch, to: rest)
    let done = direct &* channels &* width
    unsafe (result + done).copyMemory(from: rest, byteCount: rowByteCount &- done)
  }

  /// The vertical pass: weighted sums of two rows of the input.
  private func weigh(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap,
    to scratch: UnsafeMutableRawPointer
  ) {
    switch elements {
    case .float32: unsafe blend(upper, lower, tap, scratch)
    case .uint8 where hasSixteenths: unsafe weighSixteenths(upper, lower, tap, scratch)
    case .uint8: unsafe weigh(upper, lower, tap, scratch)
    case .int8 where hasSixteenths: unsafe weighSignedSixteenths(upper, lower, tap, scratch)
    case .int8: unsafe weighSigned(upper, lower, tap, scratch)
    case .int16: unsafe weighWords(upper, lower, tap, scratch)
    default: elements.isNotTaken()
    }
  }

  /// The horizontal pass: computes some columns of a row.
  private func interpolate(
    _ range: Range<Int>, _ scratch: UnsafeMutableRawPointer, to result: UnsafeMutableRawPointer
  ) {
    if let code {
      return unsafe columns.withUnsafeBufferPointer { columns in
        unsafe code.interpolate(
          columns.extracting(range), channels: channels, scratch, lowerDistance: 4 &* inputLanes, to: result)
      }
    }
    unsafe horizontal.withUnsafeBufferPointer { taps in
      let columns = taps.extracting(range)
      switch elements {
      case .float32: unsafe interpolateFloats(columns, scratch, result)
      case .uint8 where hasSixteenths: unsafe interpolateSixteenths(columns, scratch, result)
      case .uint8: unsafe interpolateBytes(columns, scratch, result)
      case .int8 where hasSixteenths: unsafe interpolateSignedSixteenths(columns, scratch, result)
      case .int8: unsafe interpolateSignedBytes(columns, scratch, result)
      case .int16: unsafe interpolateWords(columns, scratch, result)
      default: elements.isNotTaken()
      }
    }
  }
}
