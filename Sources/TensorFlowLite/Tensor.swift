// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// An input or an output, with a copy of its bytes.
///
/// Elements lie in row-major order, little-endian, without gaps.
public struct Tensor: Equatable, Hashable, Sendable {
  /// The name in the model's graph, for example `serving_default_input:0`.
  public let name: String

  /// The type of an element.
  public let dataType: DataType

  /// The sizes of the dimensions, outermost first.
  public let shape: Shape

  /// The bytes at the time of the request.
  public let data: Data

  /// The scale and zero point; nil if the elements are not quantized, or have a scale for each channel.
  public let quantizationParameters: QuantizationParameters?

  init(
    name: String, dataType: DataType, shape: Shape, data: Data,
    quantizationParameters: QuantizationParameters? = nil
  ) {
    self.name = name
    self.dataType = dataType
    self.shape = shape
    self.data = data
    self.quantizationParameters = quantizationParameters
  }

  /// A tensor of the engine, with its bytes; nil for elements that are not plain bytes.
  init?(_ tensor: Apus.Tensor, data: Data) {
    guard let dataType = DataType(tensor.type) else { return nil }
    let quantization = tensor.quantization.flatMap { $0.isPerChannel || $0.scale == 0 ? nil : $0 }
    self.init(
      name: tensor.name, dataType: dataType, shape: Shape(tensor.shape.dimensions), data: data,
      quantizationParameters: quantization.map {
        QuantizationParameters(scale: $0.scale, zeroPoint: $0.zeroPoint)
      })
  }
}
