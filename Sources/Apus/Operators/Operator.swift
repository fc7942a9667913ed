// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// One operator of a graph, ready to run.
///
/// An operator is made by a function of a ``Node`` that checks all that is known before data arrives, and
/// throws; see ``OperatorRegistry``. Most are ready then. Some are asked by passes what they could do besides, see
/// ``Passes``; products choose a kernel and pack their weights after that, see ``Draft``.
protocol Operator {
  /// Computes the outputs. Shapes hold: only data moves here. Allocates nothing, and throws only where a value in
  /// a tensor decides.
  func invoke(_ tensors: borrowing TensorTable) throws(ApusError)
  /// Itself, if only a run decides the shapes of its outputs.
  var deferred: (any DeferredOperator)? { get }

  /// What does the work, for people.
  var implementation: Implementation { get }

  // MARK: Getting ready

  /// The operator with a kernel chosen, once its shapes are final.
  func chosen(for node: Node) throws(ApusError) -> any Operator
  /// Whether it has weights to pack.
  var hasWeights: Bool { get }
  /// The operator with its constant weights packed, once no pass changes it any more.
  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator

  // MARK: What passes ask

  /// What it computes element by element, if it does nothing else.
  var elementwise: ElementwiseStep? { get }
  /// The inputs where its only output may lie: it reads each element before it writes the one in its place.
  var overwritableInputs: [TensorSlot] { get }

  /// The padding that it is, if that is all it does.
  var padding: Padding? { get }
  /// The input that it could pad itself.
  var paddableInput: TensorSlot? { get }
  /// The operator with a padding of its input done by itself; nil where it cannot do that.
  func absorbing(_ padding: Padding) -> (any Operator)?
  /// The product that it is, if that may be one function of one tensor.
  var gatedProduct: GatedProduct? { get }
  /// The sum that it is, if it is one of floats.
  var floatSum: FloatSum? { get }
  /// The operator with another tensor of its output's shape added, the sums brought between two bounds; nil where it
  /// cannot do that.
  func adding(
    _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot, using set: KernelSet
  ) -> (any Operator)?
  /// The tensor of floats of which it is a function, element by element.
  var functionInput: TensorSlot? { get }
  /// That function; nil where no other operator could do it.
  func floatFunction(using set: KernelSet) -> FloatFunctionStep?
  /// Whether ``followed(by:to:)`` is worth asking.
  var canBeFollowed: Bool { get }
  /// The operator with a function of each of its floats after it, done to each part of the output while that is still in
  /// the cache; nil where it cannot do that.
  func followed(by tail: FloatTail, to output: TensorSlot) -> (any Operator)?
}

extension Operator {
  var deferred: (any DeferredOperator)? { nil }
  var implementation: Implementation { .plain }
  func chosen(for node: Node) throws(ApusError) -> any Operator { self }
  var hasWeights: Bool { false }
  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator { self }
  var elementwise: ElementwiseStep? { nil }
  var overwritableInputs: [TensorSlot] { [] }
  var padding: Padding? { nil }
  var paddableInput: TensorSlot? { nil }
  func absorbing(_ padding: Padding) -> (any Operator)? { nil }
  var gatedProduct: GatedProduct? { nil }
  var floatSum: FloatSum? { nil }
  func adding(
    _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot, using set: KernelSet
  ) -> (any Operator)? { nil }
  var functionInput: TensorSlot? { nil }
  func floatFunction(using set: KernelSet) -> FloatFunctionStep? { nil }
  var canBeFollowed: Bool { false }
  func followed(by tail: FloatTail, to output: TensorSlot) -> (any Operator)? { nil }
}

/// An operator that is not ready before a kernel is chosen or its weights are packed.
protocol Draft: Operator {}

extension Draft {
  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    throw ApusError(.internalError, "a draft of an operator was run")
  }
}

/// An operator the shapes of whose outputs only a run decides: it keeps what it computes, and the graph, once it
/// knows the shapes, fetches it.
protocol DeferredOperator: AnyObject, Operator {
  /// The shape of an output, once the operator ran.
  func outputShape(_ position: Int) -> TensorShape
  /// Copies an output; `bytes` is as large as its shape says.
  func deliver(_ position: Int, into bytes: inout MutableRawSpan) throws(ApusError)
}

extension DeferredOperator {
  var deferred: (any DeferredOperator)? { self }
}

/// A tensor as an operator knows it: its place, and what preparation fixed. A class, so that passing it on costs little.
final class TensorSlot: Sendable {
  /// The place in the graph's table; scratch memory follows the file's tensors.
  let index: Int
  /// What the file says of the tensor; nil for scratch memory.
  let entry: TensorEntry?
  /// The type of the elements.
  let type: ElementType
  /// The shape for this plan.
  let shape: TensorShape
  /// Whether the elements are as the file quantizes them, if it does.
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

  /// For messages.
  var name: String { entry?.name ?? "scratch memory" }
  /// As the file gives it, unchecked; ``Node/quantization(of:)`` checks.
  var quantization: QuantizationParameters? { storedQuantization.flatMap { QuantizationParameters($0) } }
  /// The same where it lies in the file; it may have no scales.
  var storedQuantization: QuantizationEntry? { isAsStored ? entry?.quantization : nil }
}

/// The elements of another tensor in the same order. The plan may let both have the same bytes.
struct ViewOperator: Operator {
  let input: TensorSlot
  let output: TensorSlot

  func invoke(_ tensors: borrowing TensorTable) {
    var target = tensors.writeBytes(output)
    copyBytes(tensors.readBytes(input), to: &target)
  }
}

/// An operator whose outputs are constants of the plan: nothing is left to do.
struct ConstantOutputs: Operator {
  func invoke(_ tensors: borrowing TensorTable) {}
}
