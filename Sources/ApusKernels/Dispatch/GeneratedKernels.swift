// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A kernel set's generated code for everything but convolutions: elementwise operators, softmax, pooling,
/// transposition, resizing and LSTMs. Plain Swift computes what it declines.
package protocol GeneratedKernels: Sendable {
  /// Prepares a sum of bytes.
  func sum(
    _ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel

  /// Prepares a product of bytes.
  func product(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel

  /// Prepares an operation of floats.
  func floats(_ operation: FloatOperation, _ shapes: BroadcastShapes) throws(Decline) -> any BinaryKernel

  /// Prepares PRELU of rows of bytes. The second input is the factors of a row, see ``SinglePrecisionRelu``.
  func parametricRelu(_ relu: SinglePrecisionRelu) throws(Decline) -> FormulaCode

  /// Prepares a mapping of bytes by a table of 256.
  func byteMapping(_ table: [UInt8]) throws(Decline) -> ByteMapping

  /// Prepares an elementwise function of floats.
  func floatMapping(_ function: FloatFunction) throws(Decline) -> FloatMapping

  /// Prepares a formula.
  func formula(_ formula: FloatFormula) throws(Decline) -> FormulaCode

  /// Prepares the conversion of floats to `int32` by the rule of ``CastKernel``; results are stored as bits.
  func truncation() throws(Decline) -> FloatMapping

  /// Prepares softmax of rows of `depth` floats with the factor `beta`. Calls process whole rows.
  func floatSoftmax(beta: Float, depth: Int) throws(Decline) -> FloatMapping

  /// Prepares log-softmax of rows of `depth` floats. Calls process whole rows.
  func floatLogSoftmax(depth: Int) throws(Decline) -> FloatMapping

  /// Prepares softmax of rows of `depth` bytes.
  ///
  /// - Parameters:
  ///   - exponentials: the exponentials of all 256 differences from a row's maximum.
  ///   - summands: the exponentials with 12 of 31 bits before the binary point.
  func byteSoftmax(
    exponentials: [Int32], summands: [Int32], isSigned: Bool, depth: Int
  ) throws(Decline) -> ByteSoftmaxMapping

  /// Prepares a post-operation on a convolution's float outputs.
  func postOperation(_ kind: PostOperationCode.Kind) throws(Decline) -> PostOperationCode

  /// The size of the widest vectors, in bytes.
  var vectorByteCount: Int { get }

  /// Prepares a reduction for a pooling layer.
  func pooling(_ reduction: TapReduction) throws(Decline) -> TapReductionCode

  /// Prepares the transposition of matrices with elements of 1, 2 or 4 bytes.
  func transposition(width: Int) throws(Decline) -> TranspositionCode

  /// Prepares the interpolation of bytes: signed ones with integer weights, unsigned ones with floats.
  func resize(isSigned: Bool) throws(Decline) -> ResizeCode

  /// Prepares the code of a recurrent layer on bytes.
  ///
  /// - Parameters:
  ///   - tangentBits: the integer bits of the fixed-point arguments of hyperbolic tangents.
  ///   - wordCount: the maximum number of `int16` values in a call.
  func recurrence(tangentBits: [Int], wordCount: Int) throws(Decline) -> RecurrentCode
}

extension KernelSet {
  /// The set's generated code; throws if it has none.
  package func generatedKernels() throws(Decline) -> any GeneratedKernels {
    guard let generated else { throw Decline("the set has kernels of convolutions alone") }
    return generated
  }
}
