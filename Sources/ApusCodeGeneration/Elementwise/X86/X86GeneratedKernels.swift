// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generated kernels of all operators but convolutions.
package struct X86GeneratedKernels: GeneratedKernels {
  let target: X86Target
  /// Whether bytes are looked up in each row of sixteen table entries in turn, as on machines without AVX-512 VBMI.
  package var looksUpRows = false

  /// The kernels for one of the targets.
  package init(target: X86Target) { self.target = target }

  package func sum(
    _ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel { try target.kernel(sum, isSigned: isSigned, shapes) }

  package func product(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel { try target.kernel(product, isSigned: isSigned, shapes) }

  package func floats(
    _ operation: FloatOperation, _ shapes: BroadcastShapes
  ) throws(Decline) -> any BinaryKernel { try target.kernel(operation, shapes) }

  package func parametricRelu(_ relu: SinglePrecisionRelu) throws(Decline) -> FormulaCode {
    try target.parametricRelu(relu)
  }

  package func byteMapping(_ table: [UInt8]) throws(Decline) -> ByteMapping {
    try unsafe target.mapping(table, by: looksUpRows ? .rows : nil)
  }

  package func floatMapping(_ function: FloatFunction) throws(Decline) -> FloatMapping {
    try unsafe target.mapping(function)
  }

  package func formula(_ formula: FloatFormula) throws(Decline) -> FormulaCode {
    try target.formula(formula)
  }

  package func truncation() throws(Decline) -> FloatMapping { try unsafe target.truncation() }

  package func floatSoftmax(beta: Float, depth: Int) throws(Decline) -> FloatMapping {
    try unsafe target.softmax(beta: beta, depth: depth, isLogarithm: false)
  }

  package func floatLogSoftmax(depth: Int) throws(Decline) -> FloatMapping {
    try unsafe target.softmax(beta: 1, depth: depth, isLogarithm: true)
  }

  package func byteSoftmax(
    exponentials: [Int32], summands: [Int32], isSigned: Bool, depth: Int
  ) throws(Decline) -> ByteSoftmaxMapping {
    guard !looksUpRows else { throw Decline("bytes are looked up row by row") }
    return try unsafe target.byteSoftmax(
      exponentials: exponentials, summands: summands, isSigned: isSigned, depth: depth)
  }

  package func postOperation(_ kind: PostOperationCode.Kind) throws(Decline) -> PostOperationCode {
    try target.postOperation(kind)
  }

  package var vectorByteCount: Int { target.width.byteCount }

  package func pooling(_ reduction: TapReduction) throws(Decline) -> TapReductionCode {
    try target.pooling(reduction)
  }

  package func transposition(width: Int) throws(Decline) -> TranspositionCode {
    TranspositionCode(
      function: try unsafe CodeFunction(X86TranspositionGenerator(width: width)), width: width)
  }

  package func resize(isSigned: Bool) throws(Decline) -> ResizeCode { try target.resize(isSigned: isSigned) }

  package func recurrence(tangentBits: [Int], wordCount: Int) throws(Decline) -> RecurrentCode {
    try target.recurrence(tangentBits: tangentBits, wordCount: wordCount)
  }
}
