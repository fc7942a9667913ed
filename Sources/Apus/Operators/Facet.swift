// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The kind of an operator for passes: one of those that they know how to change, with all that it can do.
///
/// A pass asks the kind that it handles. The switches below are exhaustive, so that the compiler names the
/// questions that a new kind must answer.
enum Facet {
  /// Passes leave it alone.
  case plain
  /// Its outputs are constants of the plan, so that a run has nothing to do.
  case done
  /// A custom operator, whose duration is unknown.
  case foreign
  /// Only a run decides its output shapes.
  case deferred(any DeferredOperator)
  /// The elements of another tensor in the same order.
  case view(ViewOperator)
  /// A padding with zeros, or with the zero point, and nothing else.
  case padding(Padding)
  /// A product without a kernel.
  case draft(ProductDraft)
  /// A product with a kernel.
  case product(ProductOperator)
  /// A function of one tensor.
  case unary(UnaryOperator)
  /// A function of two tensors.
  case binary(BinaryOperator)
  /// A PRELU that several operators of the file are together.
  case rectifier(RectifierOperator)
  /// Several operators in one pass over their tensors.
  case chain(ChainOperator)
  /// A reduction of a float matrix.
  case reduction(ChainStep)

  /// Its elementwise function, if it does nothing else.
  var elementwise: ChainStep? {
    switch self {
    case .unary(let unary): unary.elementwise
    case .binary(let binary): binary.elementwise
    case .rectifier(let rectifier): rectifier.elementwise
    case .plain, .done, .foreign, .deferred, .view, .padding, .draft, .product, .chain, .reduction: nil
    }
  }

  /// Its elementwise function or its reduction, as a stage of a chain.
  var chainStep: ChainStep? { reduction ?? elementwise }

  /// The inputs where its only output may lie: it reads each element before it writes the one in its place.
  var overwritableInputs: [TensorSlot] {
    switch self {
    case .unary(let unary): unary.overwritableInputs
    case .binary(let binary): binary.overwritableInputs
    case .rectifier(let rectifier): [rectifier.input]
    case .chain(let chain): chain.overwritableInputs
    case .plain, .done, .foreign, .deferred, .view, .padding, .draft, .product, .reduction: []
    }
  }

  /// The float tensor that it applies an elementwise function to, if the step before may compute that.
  var functionInput: TensorSlot? {
    switch self {
    case .unary(let unary): unary.functionInput
    case .binary(let binary): binary.functionInput
    case .rectifier(let rectifier): rectifier.input
    case .plain, .done, .foreign, .deferred, .view, .padding, .draft, .product, .chain, .reduction: nil
    }
  }

  /// Its elementwise function as a step; nil if no other operator can absorb it.
  func floatFunction(using set: KernelSet) -> FloatFunctionStep? {
    switch self {
    case .unary(let unary): unary.floatFunction(using: set)
    case .binary(let binary): binary.floatFunction(using: set)
    case .rectifier(let rectifier): rectifier.floatFunction
    case .plain, .done, .foreign, .deferred, .view, .padding, .draft, .product, .chain, .reduction: nil
    }
  }

  /// Whether ``followed(by:to:)`` is worth asking.
  var canBeFollowed: Bool {
    switch self {
    case .product: true
    case .binary(let binary): binary.canBeFollowed
    case .plain, .done, .foreign, .deferred, .view, .padding, .draft, .unary, .rectifier, .chain, .reduction:
      false
    }
  }

  /// The operator followed by a function of each float, applied to each part of the output while it is in
  /// the cache; nil if it cannot do that.
  func followed(by tail: PostOperation, to output: TensorSlot) -> (any Operator)? {
    switch self {
    case .product(let product): product.followed(by: tail, to: output)
    case .binary(let binary): binary.followed(by: tail, to: output)
    case .plain, .done, .foreign, .deferred, .view, .padding, .draft, .unary, .rectifier, .chain, .reduction:
      nil
    }
  }

  /// The sum, if it is a float sum.
  var floatSum: FloatSum? { if case .binary(let binary) = self { binary.floatSum } else { nil } }

  /// The product, if it is one that might be a function of one tensor.
  var gatedProduct: GatedProduct? { if case .binary(let binary) = self { binary.gatedProduct } else { nil } }

  /// The reduction, if it is one.
  var reduction: ChainStep? { if case .reduction(let step) = self { step } else { nil } }
}
