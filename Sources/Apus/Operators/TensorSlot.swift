// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// A tensor as an operator knows it: its place, type and shape. It is a class, so that passing it on costs little.
final class TensorSlot: Sendable {
  /// The index in the graph's table; scratch memory follows the file's tensors.
  let index: Int
  /// The tensor in the file; nil for scratch memory.
  let entry: TensorEntry?
  /// The type of the elements.
  let type: ElementType
  /// The shape for this plan.
  let shape: TensorShape
  /// Whether the file's quantization applies to the elements.
  private let isAsStored: Bool
  /// Whether the values are known before any run.
  let isConstant: Bool

  init(
    index: Int, entry: TensorEntry?, type: ElementType, shape: TensorShape, isAsStored: Bool = true,
    isConstant: Bool
  ) {
    self.index = index
    self.entry = entry
    self.type = type
    self.shape = shape
    self.isAsStored = isAsStored
    self.isConstant = isConstant
  }

  /// The name in messages.
  var name: String { entry?.name.brief ?? "scratch memory" }
  /// The file's quantization, unchecked; ``Node/quantization(of:)`` checks.
  var quantization: QuantizationParameters? { storedQuantization.flatMap { QuantizationParameters($0) } }
  /// The file's quantization in the file's form, unchecked; it may have no scales.
  var storedQuantization: QuantizationEntry? { isAsStored ? entry?.quantization : nil }
}
