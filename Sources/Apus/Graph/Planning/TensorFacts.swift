// SPDX-License-Identifier: Apache-2.0

/// What planning has found out about one tensor.
struct TensorFacts {
  /// Nil until the operator that writes the tensor has been planned.
  var shape: TensorShape?
  /// The values, where no run is needed to know them.
  var constant: Constant?
  /// The tensor whose bytes these are; itself where it has bytes of its own.
  var root: Int
}
