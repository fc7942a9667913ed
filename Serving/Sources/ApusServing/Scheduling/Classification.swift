// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import NIOCore

/// The classification extension: the largest elements of an output as strings of `value:index` or
/// `value:index:label`, best first.
struct Classification {
  let datatype: DataType
  /// The output's shape; all but the first dimension are classes where there are several, and where the model takes batches.
  let shape: [Int]
  /// Whether the first dimension is that of a batch, however many there are.
  let batches: Bool
  /// How many classes to answer with, at most.
  let count: Int
  /// The labels, given how many classes there are; nil if there are none.
  let labels: (Int) -> LabelMap?

  /// The maximum number of strings of one output.
  private static let maximumStrings = 1 << 20
  /// The maximum number of bytes of all strings of an answer.
  static let maximumBytes = 64 << 20
  /// The minimum number of classes, beyond the wanted ones, that are collected before the worst are dropped.
  private static let collectedBeyond = 256

  /// The strings, each after its length, and the shape of the tensor that they make.
  ///
  /// - Parameter bytesLeft: What is left of ``maximumBytes``.
  /// - Throws: `resourceLimit` where there are too many of them; `cancelled`.
  func strings(
    of elements: ByteBuffer, bytesLeft: inout Int, cancellation: Cancellation
  ) throws(ApusError) -> (ByteBuffer, [Int]) {
    let hasRows = shape.count > 1 || batches && shape.count == 1
    let rows = hasRows ? shape[0] : 1
    let classes = hasRows ? shape.dropFirst().reduce(1, *) : (shape.first ?? 1)
    let wanted = min(count, classes)
    let resultShape = hasRows ? [rows, wanted] : [wanted]
    var result = ByteBuffer()
    guard rows > 0, wanted > 0 else { return (result, resultShape) }
    guard wanted <= Self.maximumStrings / rows else {
      throw ApusError(
        .resourceLimit,
        "\(wanted) classes of \(rows) rows are more than \(Self.maximumStrings) strings")
    }
    let numbers = ElementNumbers(elements, datatype)
    let labels = labels(classes)
    for row in 0..<rows {
      for index in try best(wanted, of: classes, in: row, numbers, cancellation) {
        var text = "\(numbers.text(at: row * classes + index)):\(index)"
        if let label = labels?[index] { text += ":\(label)" }
        result.writeInteger(UInt32(text.utf8.count), endianness: .little)
        result.writeString(text)
        bytesLeft -= 4 + text.utf8.count
        guard bytesLeft >= 0 else {
          throw ApusError(.resourceLimit, "the classes take more than \(Self.maximumBytes) bytes")
        }
      }
    }
    return (result, resultShape)
  }

  /// The best classes of a row, best first. Values that are no numbers come last; equal ones in the order of the classes.
  private func best(
    _ wanted: Int, of classes: Int, in row: Int, _ numbers: ElementNumbers, _ cancellation: Cancellation
  ) throws(ApusError) -> [Int] {
    var best: [(index: Int, score: Double)] = []
    for index in 0..<classes {
      best.append((index, numbers.value(at: row * classes + index)))
      guard index == classes - 1 || best.count - wanted >= max(wanted, Self.collectedBeyond) else { continue }
      guard !cancellation.isCancelled else { throw ApusError(.cancelled, "the run was cancelled") }
      best.sort { first, second in
        let (left, right) = (first.score, second.score)
        if left.isNaN || right.isNaN {
          return left.isNaN == right.isNaN ? first.index < second.index : right.isNaN
        }
        return left == right ? first.index < second.index : left > right
      }
      best.removeLast(max(0, best.count - wanted))
    }
    return best.map(\.index)
  }
}
