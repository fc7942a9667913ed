// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The operations of a ``PortableFloatConvolution`` on its operands.
protocol PortableFloatProducts: Sendable {
  /// An element of packed weights.
  associatedtype Weight: BitwiseCopyable
  /// How inputs become lanes of floats.
  associatedtype Conversion: LaneConversion where Conversion.Lane == Float

  /// The name of the multiplied elements, for plans of models.
  static var name: String { get }
  /// The name of the packed layout.
  static var layoutName: String { get }
  /// Whether inputs that lie as a matrix are multiplied where they are.
  static var readsInputAsItIs: Bool { get }
  static var conversion: Conversion { get }

  /// Refuses convolutions with other conditions than floats have.
  static func requireFit(_ convolution: Convolution) throws(Decline)
  /// The order of sums, which decides their digits.
  static func summation(_ tiling: ConvolutionTiling) -> String
  /// A weight as it is packed.
  static func weight(_ value: Float) -> Weight

  /// Multiplies rows with a panel of eight columns, and writes the sums or adds to them.
  ///
  /// - Parameters:
  ///   - rowStride: The distance from one row of floats to the next, in floats.
  ///   - terms: The number of values of K.
  ///   - part: The values of K whose sum is added at once; 0 if each product is. `terms` is a multiple of it.
  ///   - sumStride: The distance from one row of sums to the next, in floats.
  static func multiplyPanel(
    _ rows: UnsafeRawPointer, rowCount: Int, rowStride: Int, terms: Int, part: Int,
    _ panel: UnsafePointer<Weight>, _ sums: UnsafeMutablePointer<Float>, sumStride: Int, accumulates: Bool)
}

extension PortableFloatProducts {
  /// The size of an element of packed weights.
  static var weightByteCount: Int { MemoryLayout<Weight>.stride }
}

/// Products of floats as they are.
enum PlainFloatProducts: PortableFloatProducts {
  static var name: String { "floats" }
  static var layoutName: String { "portable-float" }
  static var readsInputAsItIs: Bool { true }
  static var conversion: Copy<Float> { Copy(padding: 0) }

  static func requireFit(_ convolution: Convolution) throws(Decline) {}
  static func summation(_ tiling: ConvolutionTiling) -> String {
    "portable, in blocks of \(tiling.depthPerBlock) terms"
  }
  @inline(__always) static func weight(_ value: Float) -> Float { value }

  @inline(__always)
  static func multiplyPanel(
    _ rows: UnsafeRawPointer, rowCount: Int, rowStride: Int, terms: Int, part: Int,
    _ panel: UnsafePointer<Float>, _ sums: UnsafeMutablePointer<Float>, sumStride: Int, accumulates: Bool
  ) {
    unsafe ApusKernels.multiplyPanel(
      rows, rowCount: rowCount, rowStride: rowStride, terms: terms, panel, sums, sumStride: sumStride,
      accumulates: accumulates)
  }
}
