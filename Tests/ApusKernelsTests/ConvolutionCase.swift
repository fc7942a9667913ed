// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport

/// The element types and epilogues that a random case can have.
enum CaseKind: String, CaseIterable, CustomStringConvertible {
  case float32
  case uint8
  case uint8PerChannel
  case uint8Once
  case int8
  case int8PerChannel
  case int8Once
  case hybrid
  case hybridPerChannel

  var description: String { rawValue }

  /// Operands of this kind with zero points often at the ends of their range.
  func operands(using random: inout SeededGenerator) -> MatrixOperands {
    switch self {
    case .float32: return .float32
    case .uint8, .uint8PerChannel, .uint8Once:
      let points: [Int32] = [0, 255, 128, .random(in: 0...255, using: &random)]
      return .uint8(lhsZeroPoint: points.pick(using: &random), rhsZeroPoint: points.pick(using: &random))
    case .hybrid, .hybridPerChannel: return .hybrid(isAsymmetric: .random(using: &random))
    case .int8, .int8PerChannel, .int8Once:
      let points: [Int32] = [-128, 127, 0, .random(in: -128...127, using: &random)]
      return .int8(
        lhsZeroPoint: points.pick(using: &random), rhsZeroPoint: [0, 0, -128, 127].pick(using: &random))
    }
  }

  /// An epilogue of this kind whose outputs fill their range for sums of `terms` products.
  func epilogue(channels: Int, terms: Int, using random: inout SeededGenerator) -> Epilogue {
    let isSigned = rawValue.hasPrefix("int8")
    let (lowest, highest): (Int32, Int32) = isSigned ? (-128, 127) : (0, 255)
    let zeroPoint = Int32.random(in: lowest...highest, using: &random)
    let clamps = Bool.random(using: &random)
    let minimum = clamps ? max(lowest, zeroPoint - [0, 20].pick(using: &random)) : lowest
    let maximum = clamps ? min(highest, zeroPoint + 70) : highest
    let scale = 1 / (40 * Double(max(1, terms)).squareRoot())
    switch self {
    case .float32:
      return clamps ? .float32(minimum: 0, maximum: 6) : .float32(minimum: -.infinity, maximum: .infinity)
    case .hybrid, .hybridPerChannel:
      let factors = (0..<(self == .hybrid ? 1 : channels)).map { _ in
        Float.random(in: 0.001...0.1, using: &random)
      }
      let bounds: (least: Float, most: Float) =
        clamps ? (0, 6) : (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
      return .hybrid(
        factors, minimum: bounds.least, maximum: bounds.most, areWeightsFirst: .random(using: &random))
    case .uint8, .int8:
      // Sometimes a factor above one, which shifts left.
      let factor =
        [scale, scale, scale, 0.6, 3].pick(using: &random) * .random(in: 0.5...1.5, using: &random)
      return .fixedPoint(
        [FixedPointMultiplier(factor)], zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
    case .uint8PerChannel, .int8PerChannel:
      let spread = [1.0, 1, 1_000].pick(using: &random)
      let factors = (0..<channels).map { _ in
        FixedPointMultiplier(scale * .random(in: 0.01...spread, using: &random))
      }
      return .fixedPoint(factors, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
    case .uint8Once, .int8Once:
      let count = Bool.random(using: &random) ? 1 : channels
      // A power of two makes exact halves common.
      let factors = (0..<count).map { _ in
        Bool.random(using: &random) ? 0x1p-9 : scale * .random(in: 0.1...2, using: &random)
      }
      return .float64(factors, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
    }
  }
}

extension Array {
  /// A random element of an array that is not empty.
  func pick(using random: inout SeededGenerator) -> Element {
    self[Int.random(in: indices, using: &random)]
  }
}

extension [Float] {
  /// Whether two arrays have the same numbers, and NaN in the same places.
  func isAlike(_ other: [Float]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN }
  }
}

extension MatrixOperands {
  /// Whether floats are quantized when they come.
  var isHybrid: Bool { if case .hybrid = self { true } else { false } }
}

extension [Float] {
  /// Random input of a hybrid convolution. Some inputs are constant or of one sign, some are multiples of half a quantization
  /// step, and some have infinities, NaN or a range that overflows.
  static func hybridInput(count: Int, using random: inout SeededGenerator) -> [Float] {
    if Int.random(in: 0..<6, using: &random) == 0 {
      let special: [Float] = [
        [.infinity], [-.infinity], [.nan], [.nan, .infinity], [.infinity, -.infinity], [3e38, -3e38],
        [Float(1e-44 as Double)],
      ].pick(using: &random)
      let chance = [2, 10, 100].pick(using: &random)
      return (0..<count).map { _ in
        Int.random(in: 0..<chance, using: &random) == 0
          ? special.pick(using: &random) : .random(in: -1...1, using: &random)
      }
    }
    let (low, high): (Float, Float) = [(-1, 2), (-3, 1), (0, 1), (0.5, 0.5), (0, 0), (-127, 127)].pick(
      using: &random)
    let isStepped = high == 127
    return (0..<count).map { index in
      // Both ends are there, so that the step is one.
      if isStepped, index < 2 { return index == 0 ? low : high }
      let value = Float.random(in: low...high, using: &random)
      return isStepped ? (value * 2).rounded() / 2 : value
    }
  }
}

/// One axis of a random convolution's geometry.
struct AxisCase {
  let input: Int
  let filter: Int
  let stride: Int
  let dilation: Int
  let padding: Int
  let output: Int

  /// A single place, and a filter that covers just it.
  static let one = AxisCase(input: 1, filter: 1, stride: 1, dilation: 1, padding: 0, output: 1)

  private init(input: Int, filter: Int, stride: Int, dilation: Int, padding: Int, output: Int) {
    (self.input, self.filter, self.stride) = (input, filter, stride)
    (self.dilation, self.padding, self.output) = (dilation, padding, output)
  }

  init(largest: Int, using random: inout SeededGenerator) {
    input = Int.random(in: 1...largest, using: &random)
    filter = [1, 1, 2, 3, 3, 5].pick(using: &random)
    stride = [1, 1, 2, 3].pick(using: &random)
    dilation = [1, 1, 1, 2, 5].pick(using: &random)
    let extent = (filter - 1) * dilation + 1
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      // Same padding.
      output = (input + stride - 1) / stride
      padding = max(0, (output - 1) * stride + extent - input) / 2
    case 1:
      // No padding, where the filter fits.
      padding = extent > input ? extent - 1 : 0
      output = (input + 2 * padding - extent) / stride + 1
    case 2:
      // More padding than the filter covers.
      padding = extent + 1
      output = (input + 2 * padding - extent) / stride + 1
    default:
      // An output that looks far beyond the input.
      padding = Int.random(in: 0..<extent, using: &random)
      output = Int.random(in: 0...(largest / 2 + 1), using: &random)
    }
  }
}

/// The bytes that a run of a prepared convolution gives.
func run(
  _ prepared: any PreparedConvolution, input: [UInt8], weights: [UInt8], bias: [UInt8]?, outputCount: Int,
  threads: Int
) -> [UInt8] {
  let packed = PackedWeights(byteCount: prepared.packedByteCount)
  // The memory holds other weights first. None of them may remain.
  for weights in [weights.reversed(), weights] {
    if let bias {
      prepared.pack(weights: weights.span.bytes, bias: bias.span.bytes, into: packed)
    } else {
      prepared.pack(weights: weights.span.bytes, bias: nil, into: packed)
    }
  }
  // Input, output and scratch memory lie between pages that must not be touched.
  guard let source = GuardedMemory(input), let result = GuardedMemory(count: outputCount, repeating: 0xA5),
    let work = GuardedMemory(count: prepared.scratchByteCount(threads: threads), repeating: 0xFF)
  else { return [] }
  var outputBytes = unsafe MutableRawSpan(_unsafeBytes: result.bytes)
  var scratchBytes = unsafe MutableRawSpan(_unsafeBytes: work.bytes)
  prepared.run(
    packed, input: unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(source.bytes)), output: &outputBytes,
    scratch: &scratchBytes, threads: ThreadTeam(count: threads))
  withExtendedLifetime((source, work)) {}
  return unsafe Array(result.bytes) + [UInt8](repeating: 0xA5, count: 64)
}

/// The bytes of values, lowest address first.
func bytes<Element: BitwiseCopyable>(_ values: [Element]) -> [UInt8] {
  unsafe values.withUnsafeBytes { Array($0) }
}

/// The floats that bytes hold.
func floats(_ bytes: [UInt8]) -> [Float] {
  unsafe bytes.withUnsafeBytes { bytes in
    (0..<bytes.count / 4).map { unsafe bytes.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
  }
}
