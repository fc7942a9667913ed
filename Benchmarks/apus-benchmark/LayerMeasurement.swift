// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusKernels
import ApusRuntime

/// One layer with random data: the portable set's result, and the time of a kernel with the same result.
struct LayerMeasurement {
  let shape: LayerShape
  private let input: ZeroedMemory
  private let weights: [UInt8]
  private let bias: [UInt8]
  private let expected: [UInt8]

  /// Draws data and computes the portable set's result.
  init(_ shape: LayerShape) throws(ApusError) {
    self.shape = shape
    let isFloat = shape.scheme == .float32
    func bytes(_ count: Int, seed: Int, areWeights: Bool = false) -> [UInt8] {
      var random = RandomBytes(seed: seed)
      var bytes = [UInt8](repeating: 0, count: count * shape.elementByteCount)
      var span = bytes.mutableSpan
      var raw = unsafe span.mutableBytes
      if areWeights, let zeroPoint = shape.weightZeroPoint {
        random.fillWeights(&raw, around: zeroPoint)
      } else {
        random.fill(&raw, asFloats: isFloat)
      }
      return bytes
    }
    input = Self.tensor(bytes(shape.inputCount, seed: 1))
    weights = bytes(shape.weightCount, seed: 2, areWeights: true)
    var random = RandomBytes(seed: 3)
    bias = (0..<shape.outputChannels).flatMap { _ -> [UInt8] in
      let bits =
        isFloat ? random.nextFloat().bitPattern : UInt32(bitPattern: Int32(random.nextFloat() * 4000))
      return (0..<4).map { UInt8(truncatingIfNeeded: bits >> UInt32(8 * $0)) }
    }
    guard let kernel = shape.prepared(by: .portable) else {
      throw ApusError(.invalidArgument, "the portable set has no kernel for \(shape.text) \(shape.scheme)")
    }
    let run = Run(kernel, weights, bias, outputByteCount: shape.outputCount * shape.elementByteCount)
    expected = run.output(input)
  }

  /// The milliseconds of the set's kernel on one thread; nil if it has none.
  ///
  /// - Throws: if its result differs from the portable one; floats may differ by 10⁻⁴ of the largest.
  func milliseconds(by set: KernelSet) throws(ApusError) -> Double? {
    guard let kernel = shape.prepared(by: set) else { return nil }
    let run = Run(kernel, weights, bias, outputByteCount: expected.count)
    guard isClose(run.output(input)) else {
      throw ApusError(.invalidArgument, "\(set.name): a wrong result for \(shape.text) \(shape.scheme)")
    }
    var times: [Double] = []
    var total = 0.0
    while times.count < 5 || total < 12 && times.count < 2000 {
      let time = ApusConsole.milliseconds { run.again(input) }
      times.append(time)
      total += time
    }
    return times.median
  }

  /// Bytes in memory that begins at a cache line, as models' memory does.
  private static func tensor(_ bytes: [UInt8]) -> ZeroedMemory {
    let memory = ZeroedMemory(byteCount: bytes.count)
    unsafe bytes.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress {
        unsafe memory.base.copyMemory(from: start, byteCount: bytes.count)
      }
    }
    return memory
  }

  private func isClose(_ output: [UInt8]) -> Bool {
    guard shape.scheme == .float32 else { return output == expected }
    func floats(_ bytes: [UInt8]) -> [Float] {
      unsafe bytes.withUnsafeBytes { raw in
        (0..<raw.count / 4).map { unsafe raw.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
      }
    }
    let (found, wanted) = (floats(output), floats(expected))
    let largest = wanted.reduce(1e-3) { max($0, abs($1)) }
    return zip(found, wanted).allSatisfy { abs($0 - $1) <= 1e-4 * largest }
  }

  /// A kernel with its packed weights and memory.
  private struct Run {
    private let kernel: any PreparedConvolution
    private let packed: PackedWeights
    private let result: ZeroedMemory
    private let scratch: ZeroedMemory

    init(_ kernel: any PreparedConvolution, _ weights: [UInt8], _ bias: [UInt8], outputByteCount: Int) {
      self.kernel = kernel
      packed = PackedWeights(byteCount: kernel.packedByteCount)
      unsafe kernel.pack(weights: weights.span.bytes, bias: bias.span.bytes, into: packed)
      result = ZeroedMemory(byteCount: outputByteCount)
      scratch = ZeroedMemory(byteCount: kernel.scratchByteCount(threads: 1))
    }

    func again(_ input: ZeroedMemory) {
      let (result, scratch) = unsafe (buffer(result), buffer(scratch))
      var resultBytes = unsafe result.mutableBytes
      var scratchBytes = unsafe scratch.mutableBytes
      kernel.run(
        packed, input: unsafe buffer(input).bytes, output: &resultBytes, scratch: &scratchBytes,
        threads: ThreadTeam(count: 1))
    }

    func output(_ input: ZeroedMemory) -> [UInt8] {
      again(input)
      return unsafe Array(buffer(result))
    }

    private func buffer(_ memory: ZeroedMemory) -> UnsafeMutableRawBufferPointer {
      unsafe UnsafeMutableRawBufferPointer(start: memory.base, count: memory.byteCount)
    }
  }
}
