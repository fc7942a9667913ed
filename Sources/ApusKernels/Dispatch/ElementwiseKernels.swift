// SPDX-License-Identifier: Apache-2.0

/// Generated code of a kernel set for elementwise operators and pictures. What it declines is done in plain Swift.
package protocol ElementwiseKernels: Sendable {
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

  /// PRELU of rows of bytes, whose second input is the factors of a row, see ``SinglePrecisionRelu``.
  func parametricRelu(_ relu: SinglePrecisionRelu) throws(Decline) -> FormulaCode

  /// What maps bytes by a table of 256.
  func byteMapping(_ table: [UInt8]) throws(Decline) -> ByteMapping

  /// What applies a function to floats.
  func floatMapping(_ function: FloatFunction) throws(Decline) -> FloatMapping

  /// What computes a formula.
  func formula(_ formula: FloatFormula) throws(Decline) -> FormulaCode

  /// What makes `int32` of floats, as ``CastKernel`` does, written as their bits.
  func truncation() throws(Decline) -> FloatMapping

  /// Softmax, with this factor, of rows of so many floats. Counts are of whole rows.
  func floatSoftmax(beta: Float, depth: Int) throws(Decline) -> FloatMapping

  /// The logarithm of softmax, of rows of so many floats. Counts are of whole rows.
  func floatLogSoftmax(depth: Int) throws(Decline) -> FloatMapping

  /// Softmax of rows of `depth` bytes; the exponentials are those of all 256 differences from a row's greatest, the summands the
  /// same with 12 of 31 bits before the binary point.
  func byteSoftmax(
    exponentials: [Int32], summands: [Int32], isSigned: Bool, depth: Int
  ) throws(Decline) -> ByteSoftmaxMapping

  /// What changes floats that a convolution computed; nil where there is no code for it.
  func postOperation(_ kind: PostOperationCode.Kind) -> PostOperationCode?

  /// Bytes of the widest vectors.
  var vectorByteCount: Int { get }

  /// What reduces the taps of a pool.
  func pooling(_ reduction: TapReduction) throws(Decline) -> TapReductionCode

  /// What transposes matrices of elements of 1, 2 or 4 bytes.
  func transposition(width: Int) throws(Decline) -> TranspositionCode

  /// What interpolates bytes, signed with integer weights, or unsigned with floats.
  func resize(isSigned: Bool) throws(Decline) -> ResizeCode

  /// What a recurrent layer on bytes computes with, of whose words so many are together at most; its hyperbolic tangents are of numbers
  /// with so many bits before their binary point.
  func recurrence(tangentBits: [Int], wordCount: Int) throws(Decline) -> RecurrentCode

  /// Code for the resize of a picture.
  func pictures(_ shape: PictureCode.Shape) -> PictureCode
}

extension KernelSet {
  /// The elementwise kernels; throws where the set has none.
  package func generatedElementwise() throws(Decline) -> any ElementwiseKernels {
    guard let elementwise else { throw Decline("the set has no elementwise kernels") }
    return elementwise
  }

  /// Code for the resize of a picture; plain Swift where the set has none.
  func pictureCode(_ shape: PictureCode.Shape) -> PictureCode { elementwise?.pictures(shape) ?? .portable }
}
