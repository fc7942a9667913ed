/// Where a FlatBuffers vector's elements are: checked to lie in the bytes.
struct FlatBufferVector {
  /// The offset of the first element.
  let start: Int
  /// The number of elements.
  let count: Int
}
