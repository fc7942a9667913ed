// SPDX-License-Identifier: Apache-2.0

import Apus

/// Checks that every tensor of a model's run equals its reference; for tests.
///
/// ```swift
/// try expect(model, matches: "reference")
/// ```
///
/// ``TensorComparison`` says how files are named and what is equal.
///
/// - Parameters:
///   - model: The model.
///   - folder: A folder of `.npy` files, inputs included.
///   - tolerance: The allowed difference as a share of each reference's largest magnitude; nil for the defaults.
///   - options: How to run the model.
/// - Throws: `differentTensor` for the first tensor beyond its tolerance, with its operator; otherwise as ``TensorComparison``.
public func expect(
  _ model: Model, matches folder: String, tolerance: Double? = nil,
  options: Interpreter.Options = Interpreter.Options()
) throws(ApusError) {
  let comparison = try TensorComparison(
    of: model, withReference: folder, tolerance: tolerance, options: options)
  if let difference = comparison.first { throw ApusError(.differentTensor, "\(difference)") }
}

extension ApusError.Code {
  /// A tensor differs from its reference by more than the tolerance.
  public static let differentTensor = ApusError.Code(rawValue: "differentTensor")
}
