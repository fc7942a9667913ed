// SPDX-License-Identifier: Apache-2.0

/// Generated code for elementwise operators and pictures.
package struct X86ElementwiseKernels: ElementwiseKernels {
  let target: X86Target
  /// Whether bytes are looked up row by row of their table, as on machines without AVX-512 VBMI.
  package var looksUpRows = false

  /// Code for one of the targets.
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

  package func byteMapping(_ table: [UInt8]) throws(Decline) -> ByteMapping {
    try unsafe target.mapping(table, by: looksUpRows ? .rows : nil)
  }

  package func floatMapping(_ function: FloatFunction) throws(Decline) -> FloatMapping {
    try unsafe target.mapping(function)
  }

  package func floatSoftmax(beta: Float, depth: Int) throws(Decline) -> FloatMapping {
    try unsafe target.softmax(beta: beta, depth: depth)
  }

  package func postOperation(_ kind: PostOperationCode.Kind) -> PostOperationCode? {
    target.postOperation(kind)
  }

  package func pictures(_ shape: PictureCode.Shape) -> PictureCode { target.pictures(shape) }
}
