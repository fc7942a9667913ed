// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// One operator of a graph, ready to run.
///
/// A function of a ``Node`` makes it. The function checks everything that is known before data arrives, and
/// throws; see ``OperatorRegistry``. Most operators are then ready. Passes may change those with a ``Facet``; products
/// then choose a kernel and pack their weights.
protocol Operator {
  /// Computes the outputs. Only data moves here: it allocates nothing, and throws only if a value in
  /// a tensor is invalid.
  func invoke(_ tensors: borrowing TensorTable) throws(ApusError)

  /// How it works, for reports.
  var implementation: Implementation { get }

  /// The parameters that its order of float additions depends on, in the form of
  /// ``PreparedConvolution/summation``; nil if unknown.
  var summation: String? { get }

  /// Its kind for passes.
  var facet: Facet { get }

  /// The operator as one that has weights to pack; nil if it is ready.
  var unpacked: (any UnpackedOperator)? { get }
}

extension Operator {
  var implementation: Implementation { .plain }
  var summation: String? { nil }
  var facet: Facet { .plain }
  var unpacked: (any UnpackedOperator)? { nil }
}

/// An operator that may have weights to pack.
protocol UnpackedOperator: Operator {
  /// The operator with its constant weights packed, after the last pass that changes kernels.
  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator
}

extension UnpackedOperator {
  var unpacked: (any UnpackedOperator)? { self }
}
