// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Generated resizes of bytes agree with plain Swift and stay between guard pages.
@Suite struct BilinearResizeTests {
  private struct Shape: CustomStringConvertible {
    var (batches, channels) = (1, 1)
    var (inputHeight, inputWidth) = (1, 1)
    var (outputHeight, outputWidth) = (1, 1)
    var (alignsCorners, usesHalfPixelCenters) = (false, false)

    var description: String {
      "\(batches)×\(inputHeight)×\(inputWidth)×\(channels) to \(outputHeight)×\(outputWidth), "
        + "\(alignsCorners ? "aligned" : usesHalfPixelCenters ? "half pixels" : "plain")"
    }

    func resize(_ elements: ScalarType, using set: KernelSet) -> BilinearResize? {
      BilinearResize(
        elements, batches: batches, inputHeight: inputHeight, inputWidth: inputWidth, channels: channels,
        outputHeight: outputHeight, outputWidth: outputWidth, alignsCorners: alignsCorners,
        usesHalfPixelCenters: usesHalfPixelCenters, using: set)
    }
  }

  @Test(
    "every set resizes bytes as plain Swift does",
    arguments: KernelSet.tested.filter { $0.generated != nil }, [ScalarType.int8, .uint8])
  func agreesWithPlainSwift(set: KernelSet, elements: ScalarType) throws {
    var generated = 0
    for seed in 0..<500 {
      var random = SeededGenerator(seed: UInt64(seed))
      var shape = Shape()
      shape.batches = [1, 1, 2].pick(using: &random)
      shape.channels = [1, 2, 3, 7, 8, 9, 15, 16, 17, 21, 32, 40, 65].pick(using: &random)
      shape.inputHeight = .random(in: 1...9, using: &random)
      shape.inputWidth = .random(in: 1...20, using: &random)
      shape.outputHeight = .random(in: 1...20, using: &random)
      shape.outputWidth = .random(in: 1...40, using: &random)
      let kind = Int.random(in: 0..<3, using: &random)
      (shape.alignsCorners, shape.usesHalfPixelCenters) = (kind == 0, kind == 1)
      let count = shape.batches * shape.inputHeight * shape.inputWidth * shape.channels
      let input = (0..<count).map { _ in
        Int.random(in: 0..<4, using: &random) == 0
          ? [0, 127, 128, 255].pick(using: &random) : UInt8.random(in: 0...255, using: &random)
      }
      let expected = try run(
        try #require(shape.resize(elements, using: .portable)), shape, input, threads: 1)
      let resize = try #require(shape.resize(elements, using: set))
      if resize.choice.set == set.name { generated += 1 }
      for threads in [1, 2] {
        #expect(try run(resize, shape, input, threads: threads) == expected, "\(shape), \(elements)")
      }
    }
    #expect(generated > 300)
  }

  private func run(_ resize: BilinearResize, _ shape: Shape, _ input: [UInt8], threads: Int) throws -> [UInt8]
  {
    let count = shape.batches * shape.outputHeight * shape.outputWidth * shape.channels
    let source = try #require(GuardedMemory(input))
    let target = try #require(GuardedMemory(count: count, repeating: 0xAB))
    let size = try #require(resize.scratchByteCount(threads: threads))
    let scratch = try #require(GuardedMemory(count: size, repeating: 0xCD))
    var output = unsafe target.bytes.mutableBytes
    var memory = unsafe scratch.bytes.mutableBytes
    resize.run(
      unsafe UnsafeRawBufferPointer(source.bytes).bytes, to: &output, scratch: &memory,
      threads: ThreadTeam(count: threads))
    return unsafe Array(target.bytes)
  }
}
