// SPDX-License-Identifier: Apache-2.0

/// The facts that planning knows about one tensor.
struct TensorFacts {
  /// Nil until the operator that writes the tensor has been planned.
  var shape: TensorShape?
  /// The values, if they are known before any run.
  var constant: Constant?
  /// The tensor whose bytes it shares; its own index if it shares none.
  var root: Int

  /// The number of elements; zero while the shape is not known.
  var elementCount: Int { shape?.elementCount ?? 0 }
}
