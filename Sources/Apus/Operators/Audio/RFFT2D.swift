// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RFFT2D`: the Fourier transform of real planes (the last two axes), cut or zero-filled to the lengths in the
/// second input, which are powers of two. The first half of each row's results and the middle one are kept.
///
/// If the second length is one, the reference returns numbers that are not a transform; here it is the columns'.
struct RFFT2D: Operator {
  private let transform: PlaneTransform
  private let input: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot

  /// The maximum length of a transform in each direction; its tables take a hundred megabytes.
  static let limit = 1 << 22

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, types: [.float32])
    guard input.shape.rank >= 2 else {
      throw node.malformed("\(input.name) is \(input.shape), of rank \(input.shape.rank), not 2 or more")
    }
    let lengths = try node.integers(of: node.input(1, types: [.int32], rank: 1))
    guard lengths.count == 2, lengths.allSatisfy({ $0 > 0 && $0 & ($0 - 1) == 0 }) else {
      throw node.malformed("the lengths of the transform are \(lengths.brief), not two powers of two")
    }
    let (height, width) = (lengths[0], lengths[1])
    guard height <= limit, width <= limit,
      let byteCount = PlaneTransform.scratchByteCount(
        height: height, width: width, threads: node.threadCount)
    else {
      throw ApusError(
        .resourceLimit, "\(node.place): transforms of \(lengths.brief) are longer than \(limit) each way")
    }
    let batch = input.shape.dimensions.dropLast(2)
    let output = try node.output(
      0, shape: TensorShape(batch + [height, width / 2 + 1]), types: [.complex64])
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    try node.check(plainWork: Double(output.shape.elementCount) * 64)
    // The factors of both transforms, and the order of their results.
    try node.keep(tablesOf: height + width, entryByteCount: 24)
    let scratch = try node.scratch(byteCount: byteCount)
    let sizes = (height: input.shape[batch.count], width: input.shape[batch.count + 1])
    return RFFT2D(
      transform: PlaneTransform(planes: batch.reduce(1, *), sizes: sizes, height: height, width: width),
      input: input, output: output, scratch: scratch)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var work = tensors.writeBytes(scratch)
    transform.run(tensors.readBytes(input), to: &result, scratch: &work, threads: tensors.threads)
  }
}
