// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// One operator of a graph, ready to run.
///
/// A function of a ``Node`` makes it. The function checks everything that is known before data arrives, and
/// throws; see ``OperatorRegistry``. Most operators are then ready. Passes ask some what else they can do, see
/// ``Passes``; products then choose a kernel and pack their weights, see ``Draft``.
protocol Operator {
  /// Computes the outputs. Only data moves here: it allocates nothing, and throws only if a value in
  /// a tensor is invalid.
  func invoke(_ tensors: borrowing TensorTable) throws(ApusError)
  /// The operator, if only a run decides its output shapes.
  var deferred: (any DeferredOperator)? { get }

  /// How it works, for reports.
  var implementation: Implementation { get }

  /// The parameters that its order of float additions depends on, in the form of
  /// ``PreparedConvolution/summation``; nil if unknown.
  var summation: String? { get }

  // MARK: Getting ready

  /// The view that it is, if it is one.
  var view: ViewOperator? { get }
  /// Whether a run has nothing to do, as its outputs are constants of the plan.
  var isDone: Bool { get }
  /// Whether it is a ``Draft``; asking the runtime would search all conformances of the program for each type.
  var isDraft: Bool { get }
  /// The operator with a kernel chosen, once its shapes are final.
  func chosen(for node: Node) throws(ApusError) -> any Operator
  /// Whether it has weights to pack.
  var hasWeights: Bool { get }
  /// The operator with its constant weights packed, after the last pass.
  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator

  /// Whether it is a custom operator, whose duration is unknown.
  var isForeign: Bool { get }

  // MARK: What passes ask

  /// Its elementwise function, if it does nothing else.
  var elementwise: ElementwiseStep? { get }
  /// Its reduction of a float matrix, if it does nothing else.
  var reduction: ReductionStep? { get }
  /// The inputs where its only output may lie: it reads each element before it writes the one in its place.
  var overwritableInputs: [TensorSlot] { get }

  /// The padding, if the operator does nothing else.
  var padding: Padding? { get }
  /// The input that it can pad itself.
  var paddableInput: TensorSlot? { get }
  /// The operator with the padding of its input absorbed; nil if it cannot do that.
  func absorbing(_ padding: Padding) -> (any Operator)?
  /// The operator, if it is a function of one tensor; asking the runtime for its type would take longer.
  var unary: UnaryOperator? { get }
  /// The product, if the operator is one that might be a function of one tensor.
  var gatedProduct: GatedProduct? { get }
  /// The sum, if the operator is a float sum.
  var floatSum: FloatSum? { get }
  /// The operator with another tensor of its output's shape added and the sums clamped to two bounds; nil if it
  /// cannot do that.
  func adding(
    _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot, using set: KernelSet
  ) -> (any Operator)?
  /// The float tensor that it applies an elementwise function to, if it is such a function.
  var functionInput: TensorSlot? { get }
  /// Its elementwise function as a step; nil if no other operator can absorb it.
  func floatFunction(using set: KernelSet) -> FloatFunctionStep?
  /// Whether ``followed(by:to:)`` is worth asking.
  var canBeFollowed: Bool { get }
  /// The operator followed by a function of each float, applied to each part of the output while it is in
  /// the cache; nil if it cannot do that.
  func followed(by tail: PostOperation, to output: TensorSlot) -> (any Operator)?
}

extension Operator {
  var deferred: (any DeferredOperator)? { nil }
  var implementation: Implementation { .plain }
  var summation: String? { nil }
  var view: ViewOperator? { nil }
  var isDone: Bool { false }
  var isDraft: Bool { false }
  func chosen(for node: Node) throws(ApusError) -> any Operator { self }
  var hasWeights: Bool { false }
  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator { self }
  var isForeign: Bool { false }
  var elementwise: ElementwiseStep? { nil }
  var reduction: ReductionStep? { nil }
  var overwritableInputs: [TensorSlot] { [] }
  var padding: Padding? { nil }
  var paddableInput: TensorSlot? { nil }
  func absorbing(_ padding: Padding) -> (any Operator)? { nil }
  var unary: UnaryOperator? { nil }
  var gatedProduct: GatedProduct? { nil }
  var floatSum: FloatSum? { nil }
  func adding(
    _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot, using set: KernelSet
  ) -> (any Operator)? { nil }
  var functionInput: TensorSlot? { nil }
  func floatFunction(using set: KernelSet) -> FloatFunctionStep? { nil }
  var canBeFollowed: Bool { false }
  func followed(by tail: PostOperation, to output: TensorSlot) -> (any Operator)? { nil }
}
