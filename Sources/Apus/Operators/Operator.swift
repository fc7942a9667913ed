import ApusFormat
import ApusKernels

/// One operator of a graph, ready to run.
///
/// An operator is made by a function of a ``Node`` that checks all that is known before data arrives, and
/// throws; see ``OperatorRegistry``.
protocol Operator {
  /// Computes the outputs. Shapes hold: only data moves here. Allocates nothing, and throws only where a value in
  /// a tensor decides.
  func invoke(_ tensors: borrowing TensorTable) throws(ApusError)
  /// Whether the plan carries it out by sharing memory.
  var isView: Bool { get }
  /// Itself, if only a run decides the shapes of its outputs.
  var deferred: (any DeferredOperator)? { get }

  /// The operator with a function of each of its floats after it, done to each part of the output while that is still in
  /// the cache; nil where it cannot do that.
  func followed(by tail: FloatTail) -> (any Operator)?

  /// The operator with another tensor of its output's shape added in the same way, the sums brought between two bounds; nil
  /// where it cannot do that.
  func adding(_ other: TensorSlot, within minimum: Float, _ maximum: Float, using set: KernelSet)
    -> (any Operator)?
}

extension Operator {
  var isView: Bool { false }
  var deferred: (any DeferredOperator)? { nil }
  func followed(by tail: FloatTail) -> (any Operator)? { nil }
  func adding(_ other: TensorSlot, within minimum: Float, _ maximum: Float, using set: KernelSet)
    -> (any Operator)?
  { nil }
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

/// An operator that the plan carries out by sharing memory: nothing is left to do.
struct ViewOperator: Operator {
  var isView: Bool { true }

  func invoke(_ tensors: borrowing TensorTable) {}
}
