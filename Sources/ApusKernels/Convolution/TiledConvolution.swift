// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A prepared convolution whose work is cut into tiles, each computed by one worker in its own memory.
///
/// It checks sizes, divides memory and hands out tiles for all conformers. One call per tile goes through the
/// protocol; the code inside is that of one concrete type.
protocol TiledConvolution: PreparedConvolution {
  /// The number of tiles.
  var tileCount: Int { get }
  /// The bytes of the whole input.
  var inputByteCount: Int { get }
  /// The bytes of the whole output.
  var outputByteCount: Int { get }
  /// The scratch memory of one worker in bytes, a multiple of 64.
  var workerByteCount: Int { get }
  /// The quantization of the input before the first tile; nil if it needs none.
  var quantization: HybridQuantization? { get }

  /// Computes one tile. `scratch` is aligned to 64 bytes.
  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer)
}

extension TiledConvolution {
  var quantization: HybridQuantization? { nil }

  /// The size of the quantized input and its scales, which come before the workers' memory.
  private var sharedByteCount: Int { quantization?.byteCount ?? 0 }

  func scratchByteCount(threads: Int) -> Int { 64 + sharedByteCount + threads * workerByteCount }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= inputByteCount && output.byteCount >= outputByteCount
        && packed.byteCount >= packedByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      let shared = unsafe scratch.alignedUp(toMultipleOf: 64)
      let source = unsafe quantization?.run(input, to: shared, threads: threads) ?? input
      let work = unsafe ConvolutionWork(
        convolution: self, packed: packed.address, input: source,
        scales: shared.assumingMemoryBound(to: Float.self), output: output,
        scratch: shared + sharedByteCount)
      threads.run(tiles: tileCount, work)
    }
  }
}

/// One run of a ``TiledConvolution``; its pointers are valid during that call only.
@safe struct ConvolutionWork: TileWork {
  static var mayStop: Bool { true }

  let convolution: any TiledConvolution
  let packed: UnsafeMutableRawPointer
  /// The input, quantized if the convolution does that.
  let input: UnsafeRawPointer
  /// The scales of the quantized input, one for each batch.
  let scales: UnsafePointer<Float>
  let output: UnsafeMutableRawPointer
  /// The memory of the workers.
  let scratch: UnsafeMutableRawPointer

  func run(tile: Int, worker: Int) {
    unsafe convolution.run(self, tile: tile, scratch: scratch + worker &* convolution.workerByteCount)
  }
}
