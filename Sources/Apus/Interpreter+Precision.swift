// SPDX-License-Identifier: Apache-2.0

extension Interpreter {
  /// The precision of products of floats: matrices and convolutions with constant weights.
  ///
  /// ```swift
  /// var options = Interpreter.Options()
  /// options.precision = .bfloat16
  /// ```
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Precision: String, CaseIterable, Hashable, Sendable {
    /// The precision of the model's floats.
    case float32
    /// Operands rounded to bfloat16, which has the range of `float32` and 8 bits of its 24; sums are `float32`.
    ///
    /// Packed weights take half the memory. Results are the same for every thread count, and on all machines that add in
    /// the same order (those with AMX have one of their own), but each product's operands lose digits: about three
    /// decimal digits remain. Products whose groups have an odd number of channels, depthwise convolutions, products of
    /// two tensors and recurrent layers stay in `float32`; ``Interpreter/plan`` says which, and why. Quantized models do
    /// not change.
    case bfloat16
  }
}
