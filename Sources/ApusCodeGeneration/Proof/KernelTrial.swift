// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// A small computation by which a kernel set is compared with plain Swift.
struct KernelTrial: Sendable {
  /// The name of the computation.
  let name: String
  /// Whether the results are floats that may differ a little.
  let isFloat: Bool
  /// Computes the results with a set's own kernel; throws if the set has none.
  let results: @Sendable (KernelSet) throws(Decline) -> [UInt8]

  /// The trials of everything for which sets have code.
  static let all: [KernelTrial] =
    convolutions + depthwiseConvolutions + strategies + elements + chains + recurrences

  /// The share of the largest magnitude by which floats may differ: sums may be added in another order.
  private static let tolerance: Float = 1e-4

  /// Where the results of a set differ from those of plain Swift; nil if they do not, or the set has no kernel.
  func difference(of set: KernelSet) -> String? {
    let found: [UInt8]
    do throws(Decline) { found = try results(set) } catch { return nil }
    guard let expected = try? results(.portable), found != expected else { return nil }
    guard isFloat, found.count == expected.count else {
      let index = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
      return
        "\(name): byte \(index) of \(expected.count) is \(found.isEmpty ? 0 : found[index]), not \(expected[index])"
    }
    let (values, wanted) = (Self.floats(found), Self.floats(expected))
    let magnitude = wanted.reduce(0) { $1.isFinite ? max($0, abs($1)) : $0 }
    for (index, (value, right)) in zip(values, wanted).enumerated() {
      let isSame =
        value == right || value.isNaN && right.isNaN || abs(value - right) <= Self.tolerance * magnitude
      guard isSame else {
        return "\(name): element \(index) of \(wanted.count) is \(value), not \(right)"
      }
    }
    return nil
  }

  private static func floats(_ bytes: [UInt8]) -> [Float] {
    stride(from: 0, to: bytes.count - 3, by: 4).map { start in
      var bits: UInt32 = 0
      for index in 0..<4 { bits |= UInt32(bytes[start + index]) << UInt32(8 * index) }
      return Float(bitPattern: bits)
    }
  }
}

// MARK: Values

extension KernelTrial {
  /// Bytes without a pattern, the same for each seed.
  static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }

  /// The bytes of floats from −4 to 4, the same for each seed. Most of them have more digits than bfloat16.
  static func floatBytes(_ count: Int, seed: UInt64) -> [UInt8] {
    bytes(count, seed: seed).flatMap { byte in littleEndian((Float(byte) - 128) / 32.3) }
  }

  /// The bytes of a float.
  static func littleEndian(_ value: Float) -> [UInt8] { littleEndian(value.bitPattern) }

  /// The bytes of a word.
  static func littleEndian(_ word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) }
  }

  /// The bytes that `body` writes, one thread at work; where it writes nothing, they are 0xA5.
  static func output(
    _ count: Int, scratch scratchCount: Int = 0,
    _ body: (inout MutableRawSpan, inout MutableRawSpan, ThreadTeam) -> Void
  ) -> [UInt8] {
    var output = [UInt8](repeating: 0xA5, count: count)
    var scratch = [UInt8](repeating: 0, count: max(scratchCount, 1))
    var outputSpan = output.mutableSpan
    var scratchSpan = scratch.mutableSpan
    var outputBytes = unsafe outputSpan.mutableBytes
    var scratchBytes = unsafe scratchSpan.mutableBytes
    ExecutableMemory.seal()
    body(&outputBytes, &scratchBytes, ThreadTeam(count: 1))
    return output
  }

  /// The results of a kernel if it is the set's own; otherwise this throws.
  static func results<Kernel>(
    of chosen: KernelSet.Chosen<Kernel>, in set: KernelSet, _ body: (Kernel) -> [UInt8]
  ) throws(Decline) -> [UInt8] {
    if let declined = chosen.choice.declined.first(where: { $0.set == set.name }) { throw declined.decline }
    return body(chosen.kernel)
  }
}
