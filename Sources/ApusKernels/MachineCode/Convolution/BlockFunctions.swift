// SPDX-License-Identifier: Apache-2.0

/// Generated functions by the rows and columns of their blocks.
struct BlockFunctions: Sendable {
  /// For a number of columns, which list of functions is theirs, counted from one; zero where there is none.
  private var lists: [UInt8]
  /// The length of a list: it has a function for each number of rows.
  private let listLength: Int
  /// The lists behind each other; zero where there is no function.
  private var addresses: [Int]

  /// The functions for these shapes; throws where one cannot be placed.
  init(
    _ shapes: [BlockShape], placement: CodePlacement, generator: (BlockShape) -> (any CodeGenerator)?
  ) throws(Decline) {
    var (mostRows, mostColumns) = (0, 0)
    for shape in shapes {
      mostRows = max(mostRows, shape.rowCount)
      mostColumns = max(mostColumns, shape.columnCount)
    }
    listLength = mostRows + 1
    lists = [UInt8](repeating: 0, count: mostColumns + 1)
    // A panel has far fewer columns than that.
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

  /// Calls the function for a block of rows and columns. Inlined, as callers would otherwise retain the lists each time.
  @inline(__always)
  func call(rows: Int, columns: Int, _ arguments: inout ConvolutionArguments) {
    CodeFunction(bits: addresses[(Int(lists[columns]) &- 1) &* listLength &+ rows])?.call(&arguments)
  }
}
