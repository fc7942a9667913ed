// SPDX-License-Identifier: Apache-2.0

import Apus

/// The properties of a record's tensor, whatever its shape.
struct TensorDescription: Sendable {
  var index = -1
  var name = ""
  var type: ElementType
  var shapeSignature: [Int] = []
  var quantization: QuantizationParameters?
  var isConstant = false
  var isVariable = false
  var sparsity: Sparsity?

  /// A tensor that is not in a model.
  init(_ type: ElementType) { self.type = type }

  /// A tensor of a model.
  init(_ tensor: Tensor) {
    index = tensor.index
    name = tensor.name
    type = tensor.type
    shapeSignature = tensor.shapeSignature
    quantization = tensor.quantization
    isConstant = tensor.isConstant
    isVariable = tensor.isVariable
    sparsity = tensor.sparsity
  }
}
