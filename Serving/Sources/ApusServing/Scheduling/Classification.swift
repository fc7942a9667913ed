// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The classification extension: the largest elements of an output as strings of `value:index` or
/// `value:index:label`, best first.
struct Classification {
  let datatype: DataType
  /// The output's shape; all but the first dimension are classes where there are several.
  let shape: [Int]
  /// How many classes to answer with, at most.
  let count: Int
  /// The label of a class, given how many classes there are.
  let label: (Int, Int) -> String?

  /// The strings, each after its length, and the shape of the tensor that they make.
  func strings(of elements: ByteBuffer) -> (ByteBuffer, [Int]) {
    let rows = shape.count > 1 ? shape[0] : 1
    let classes = shape.count > 1 ? shape.dropFirst().reduce(1, *) : (shape.first ?? 1)
    let wanted = min(count, classes)
    var result = ByteBufferAllocator().buffer(capacity: rows * wanted * 24)
    let numbers = ElementNumbers(elements, datatype)
    for row in 0..<rows {
      let scores = (0..<classes).map { numbers.value(at: row * classes + $0) }
      // Values that are no numbers come last; equal ones in the order of the classes.
      let order = scores.indices.sorted { first, second in
        let (left, right) = (scores[first], scores[second])
        if left.isNaN || right.isNaN { return left.isNaN == right.isNaN ? first < second : right.isNaN }
        return left == right ? first < second : left > right
      }
      for index in order.prefix(wanted) {
        var text = "\(numbers.text(at: row * classes + index)):\(index)"
        if let label = label(index, classes) { text += ":\(label)" }
        result.writeInteger(UInt32(text.utf8.count), endianness: .little)
        result.writeString(text)
      }
    }
    return (result, shape.count > 1 ? [rows, wanted] : [wanted])
  }
}
