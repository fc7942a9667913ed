// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// An operator whose output shapes only a run decides. It keeps its results, and the graph, once it
/// knows the shapes, fetches them.
protocol DeferredOperator: AnyObject, Operator {
  /// The shape of an output, after the operator ran.
  func outputShape(_ position: Int) -> TensorShape
  /// Copies an output. `bytes` has the size of its shape.
  func deliver(_ position: Int, into bytes: inout MutableRawSpan) throws(ApusError)
}

extension DeferredOperator {
  var facet: Facet { .deferred(self) }
}
