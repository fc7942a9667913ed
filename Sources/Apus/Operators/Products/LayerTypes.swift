// SPDX-License-Identifier: Apache-2.0

/// Types that a layer with weights takes together: all combinations are in the tables below.
///
/// `MatrixOperandTests` has a golden for each.
struct LayerTypes: Sendable {
  /// A kind of layer.
  enum Layer {
    case convolution, depthwise, transposed, fullyConnected, matrices
  }

  /// How a layer multiplies.
  enum Arithmetic {
    /// Floats by floats.
    case floats
    /// Floats, quantized in each run, by integers.
    case hybrid
    /// `uint8` by `uint8`, with sums of 32 bits.
    case unsigned
    /// `int8` by `int8` or less, with sums of 32 bits.
    case signed
    /// `int16` by integers, with sums of 32 or 64 bits.
    case words
  }

  let input: ElementType
  let filters: [ElementType]
  let biases: [ElementType]
  let outputs: [ElementType]
  let arithmetic: Arithmetic

  private init(
    _ arithmetic: Arithmetic, _ input: ElementType, _ filters: [ElementType], biases: [ElementType],
    outputs: [ElementType]
  ) {
    self.arithmetic = arithmetic
    self.input = input
    self.filters = filters
    self.biases = biases
    self.outputs = outputs
  }

  private static func floats(_ filters: ElementType...) -> Self {
    .init(.floats, .float32, filters, biases: [.float32], outputs: [.float32])
  }

  private static func hybrid(_ filters: ElementType...) -> Self {
    .init(.hybrid, .float32, filters, biases: [.float32], outputs: [.float32])
  }

  private static func unsigned(_ filters: ElementType..., outputs: [ElementType] = [.uint8]) -> Self {
    .init(.unsigned, .uint8, filters, biases: [.int32], outputs: outputs)
  }

  private static func signed(_ filters: ElementType..., outputs: [ElementType] = [.int8]) -> Self {
    .init(.signed, .int8, filters, biases: [.int32], outputs: outputs)
  }

  private static func words(_ filters: ElementType..., biases: [ElementType] = [.int64, .int32]) -> Self {
    .init(.words, .int16, filters, biases: biases, outputs: [.int16])
  }

  // MARK: Tables

  private static let convolution: [LayerTypes] = [
    .floats(.float32, .float16), .hybrid(.int8, .int4, .uint8), .unsigned(.uint8), .signed(.int8, .int4),
    .words(.int8, .int4, .int16),
  ]

  private static let depthwise: [LayerTypes] = [
    .floats(.float32), .hybrid(.int8), .unsigned(.uint8), .signed(.int8, .int4),
    .words(.int8, .int16, biases: [.int64]),
  ]

  private static let transposed: [LayerTypes] = [
    .floats(.float32), .hybrid(.int8), .unsigned(.uint8), .signed(.int8), .words(.int8),
  ]

  private static let fullyConnected: [LayerTypes] = [
    .floats(.float32), .hybrid(.int8, .uint8, .int4, .int2), .unsigned(.uint8, outputs: [.uint8, .int16]),
    .signed(.int8, .int4, .int2, outputs: [.int8, .int16]), .words(.int8, .int4, .int2, .int16),
  ]

  private static let matrices: [LayerTypes] = [
    .floats(.float32), .hybrid(.int8), .signed(.int8, outputs: [.int8, .int32]), .words(.int16, .int8),
  ]

  /// The types of a layer with this input and filter; nil if it does not take them together.
  static func row(_ layer: Layer, _ input: ElementType, _ filter: ElementType) -> LayerTypes? {
    let table =
      switch layer {
      case .convolution: convolution
      case .depthwise: depthwise
      case .transposed: transposed
      case .fullyConnected: fullyConnected
      case .matrices: matrices
      }
    return table.first { $0.input == input && $0.filters.contains(filter) }
  }
}

extension Node {
  /// The types that a layer takes together with those of its input and filter.
  func layerTypes(
    _ layer: LayerTypes.Layer, _ input: TensorSlot, _ filter: TensorSlot
  ) throws(ApusError) -> LayerTypes {
    guard let row = LayerTypes.row(layer, input.type, filter.type) else { throw mismatch(input, filter) }
    return row
  }
}
