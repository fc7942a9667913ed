// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated functions, looked up by the rows and columns of their blocks.
struct BlockFunctions: Sendable {
  /// For each number of columns, the number of its list of functions, counted from one; zero if there is
  /// none.
  private var lists: [UInt8]
  /// The length of a list, which has an entry for each number of rows.
  private let listLength: Int
  /// All lists, one after the other; zero where there is no function.
  private var addresses: [Int]

  /// Generates the functions for these shapes; throws if there is no memory for one.
  init(
    _ shapes: [BlockShape], placement: CodePlacement, generator: (BlockShape) -> (any CodeGenerator)?
  ) throws(Decline) {
    var (maximumRows, maximumColumns) = (0, 0)
    for shape in shapes {
      maximumRows = max(maximumRows, shape.rowCount)
      maximumColumns = max(maximumColumns, shape.columnCount)
    }
    listLength = maximumRows + 1
    lists = [UInt8](repeating: 0, count: maximumColumns + 1)
    // A panel has far fewer columns than `UInt8` can count.
    var listCount: UInt8 = 0
    for shape in shapes where lists[shape.columnCount] == 0 {
      listCount += 1
      lists[shape.columnCount] = listCount
    }
    addresses = [Int](repeating: 0, count: Int(listCount) * listLength)
    for shape in shapes {
      let index = (Int(lists[shape.columnCount]) - 1) * listLength + shape.rowCount
      guard addresses[index] == 0 else { continue }
      addresses[index] = try unsafe CodeFunction<ConvolutionArguments>(generator(shape), placement: placement)
        .bits
    }
  }

  /// The function for a block of rows and columns.
  func function(rows: Int, columns: Int) -> CodeFunction<ConvolutionArguments>? {
    guard columns < lists.count, lists[columns] > 0 else { return nil }
    return CodeFunction(bits: addresses[(Int(lists[columns]) - 1) * listLength + rows])
  }

  /// No functions.
  static let none = BlockFunctions()

  private init() { (lists, listLength, addresses) = ([0], 1, []) }

  /// Calls the function for a block of rows and columns. Inlined, because callers would otherwise retain the
  /// arrays.
  @inline(__always)
  func call(rows: Int, columns: Int, _ arguments: inout ConvolutionArguments) {
    CodeFunction(bits: addresses[(Int(lists[columns]) &- 1) &* listLength &+ rows])?.call(&arguments)
  }
}
