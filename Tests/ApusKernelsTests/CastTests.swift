// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Generated casts of floats to integers agree with plain Swift and stay between guard pages.
@Suite struct CastTests {
  static let sets = KernelSet.tested.filter { $0.generated != nil }

  @Test("every set casts as plain Swift does", arguments: sets, [1, 7, 16, 255, 256, 257, 1_000])
  func agreesWithPlainSwift(set: KernelSet, count: Int) throws {
    var random = SeededGenerator(seed: UInt64(count))
    let rare: [Float] = [
      .nan, -.nan, .infinity, -.infinity, 0, -0.0, 0.99, -0.99, 127.9, -128.9, 255.9, 256, 32_767.5,
      -32_768.5,
      65_535.9, 65_536, 0x1p31, (0x1p31 as Float).nextDown, -0x1p31, (-0x1p31 as Float).nextDown, 1e30, -1e30,
      .leastNonzeroMagnitude, 8_388_609,
    ]
    let values = (0..<count).map { index -> Float in
      index < rare.count
        ? rare[index] : Float.random(in: -1...1, using: &random) * [1, 300, 1e5, 3e9].pick(using: &random)
    }
    let types: [(type: ScalarType, byteCount: Int)] = [
      (.int8, 1), (.uint8, 1), (.int16, 2), (.uint16, 2), (.int32, 4), (.uint32, 4), (.int64, 8),
    ]
    for (type, byteCount) in types {
      let expected = try run(
        CastKernel.kernel(from: .float32, to: type, count: count), values, byteCount: byteCount * count)
      let kernel = CastKernel.choose(from: .float32, to: type, count: count, using: set).kernel
      #expect(try run(kernel, values, byteCount: byteCount * count) == expected, "\(type)")
      if byteCount < 4 || type == .int32 { #expect(kernel.implementation.contains("generated")) }
    }
  }

  private func run(_ kernel: any UnaryKernel, _ values: [Float], byteCount: Int) throws -> [UInt8] {
    let input = try #require(GuardedMemory(values.withUnsafeBytes { unsafe Array($0) }))
    let output = try #require(GuardedMemory(count: byteCount, repeating: 0xAB))
    var bytes = unsafe output.bytes.mutableBytes
    kernel.run(
      unsafe UnsafeRawBufferPointer(input.bytes).bytes, to: &bytes, threads: ThreadTeam(count: 2))
    return unsafe Array(output.bytes)
  }
}
