// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import TestSupport
import Testing

@Suite("MachineModel")
struct MachineModelTests {
  /// Layers whose tiles fill a cache: 3×3, 1×1, weights of a megabyte, and a dilated filter.
  private static let shapes: [(size: Int, filter: Int, dilation: Int, inputs: Int, outputs: Int)] = [
    (57, 3, 1, 40, 24), (90, 1, 1, 64, 33), (9, 3, 1, 200, 160), (33, 3, 9, 48, 16),
  ]

  @Test(
    "the size of the second-level cache moves the ends of tiles and no bit of a result",
    arguments: KernelSet.tested,
    [CaseKind.float32, .int8PerChannel])
  func results(kernels: KernelSet, kind: CaseKind) throws {
    guard !kernels.isEmulated, kernels.with(secondLevelCache: 1 << 20) != nil else { return }
    var hasMoved = false
    for (size, filter, dilation, inputs, outputs) in Self.shapes {
      var random = SeededGenerator(seed: UInt64(size))
      let convolution = Convolution(
        batches: 1, inputHeight: size, inputWidth: size, inputChannels: inputs, filterHeight: filter,
        filterWidth: filter, outputHeight: size, outputWidth: size, outputChannels: outputs, strideHeight: 1,
        strideWidth: 1, dilationHeight: dilation, dilationWidth: dilation, paddingTop: filter / 2 * dilation,
        paddingLeft: filter / 2 * dilation, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: outputs, terms: filter * filter * inputs, using: &random))
      hasMoved =
        try agrees(
          kernels, inputCount: size * size * inputs, weightCount: outputs * filter * filter * inputs,
          outputCount: size * size * outputs, kind, &random
        ) { try $0.convolution(convolution) } || hasMoved
    }
    var random = SeededGenerator(seed: 7)
    let depthwise = Convolution(
      batches: 1, inputHeight: 112, inputWidth: 112, inputChannels: 40, filterHeight: 3, filterWidth: 3,
      outputHeight: 56, outputWidth: 56, outputChannels: 40, strideHeight: 2, strideWidth: 2, paddingTop: 0,
      paddingLeft: 0, isDepthwise: true, operands: kind.operands(using: &random),
      epilogue: kind.epilogue(channels: 40, terms: 9, using: &random))
    hasMoved =
      try agrees(
        kernels, inputCount: 112 * 112 * 40, weightCount: 9 * 40, outputCount: 56 * 56 * 40, kind, &random
      ) { try $0.convolution(depthwise) } || hasMoved
    #expect(hasMoved)
  }

  /// Checks results for a small and a large cache against those of this machine's; returns whether they need other memory.
  private func agrees(
    _ kernels: KernelSet, inputCount: Int, weightCount: Int, outputCount: Int, _ kind: CaseKind,
    _ random: inout SeededGenerator, _ prepare: (KernelSet) throws -> any PreparedConvolution
  ) throws -> Bool {
    func values(_ count: Int) -> [UInt8] {
      kind == .float32
        ? bytes((0..<count).map { _ in Float.random(in: -1...1, using: &random) })
        : (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }
    let (input, weights) = (values(inputCount), values(weightCount))
    let byteCount = kind == .float32 ? 4 * outputCount : outputCount
    var found: [(bytes: [UInt8], scratch: Int)] = []
    for cache in [2 << 20, 256 << 10, 4 << 20] {
      let prepared = try prepare(try #require(kernels.with(secondLevelCache: cache)))
      for threads in [1, 2] {
        found.append(
          (
            run(
              prepared, input: input, weights: weights, bias: nil, outputCount: byteCount, threads: threads),
            prepared.scratchByteCount(threads: 1)
          ))
      }
    }
    #expect(Set(found.map(\.bytes)).count == 1)
    return Set(found.map(\.scratch)).count > 1
  }
}
