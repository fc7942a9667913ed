// SPDX-License-Identifier: Apache-2.0

/// A generated function of ``GeneratedArguments``.
struct GeneratedFunction: @unchecked Sendable {
  // @unchecked: the address is of code that is never changed.

  private typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void

  private let address: UnsafeRawPointer

  /// What a generator writes; throws where there is none, or its code cannot be placed.
  init(_ generator: (any CodeGenerator)?, placement: CodePlacement) throws(Decline) {
    guard let generator else { throw Decline("the target has no generator for a function of it") }
    guard let address = placement(generator) else { throw .noCodeMemory }
    unsafe self.address = address
  }

  /// The function at an address; nil for zero.
  @inline(__always)
  fileprivate init?(bits: Int) {
    guard let address = UnsafeRawPointer(bitPattern: bits) else { return nil }
    unsafe self.address = address
  }

  fileprivate var bits: Int { unsafe Int(bitPattern: address) }

  @inline(__always)
  func call(_ arguments: inout GeneratedArguments) {
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafeMutablePointer(to: &arguments) { unsafe function(UnsafeMutableRawPointer($0)) }
  }
}

/// Generated functions by the rows and columns of their blocks.
struct GeneratedFunctions: Sendable {
  /// For a number of columns, which list of functions is theirs, counted from one; zero where there is none.
  private var lists: [UInt8]
  /// The length of a list: it has a function for each number of rows.
  private let listLength: Int
  /// The lists behind each other; zero where there is no function.
  private var addresses: [Int]

  /// The functions for these shapes; throws where one cannot be placed.
  init(
    _ shapes: [GeneratedShape], placement: CodePlacement, generator: (GeneratedShape) -> (any CodeGenerator)?
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
      addresses[index] = try GeneratedFunction(generator(shape), placement: placement).bits
    }
  }

  /// The function for a block of rows and columns.
  func function(rows: Int, columns: Int) -> GeneratedFunction? {
    guard columns < lists.count, lists[columns] > 0 else { return nil }
    return GeneratedFunction(bits: addresses[(Int(lists[columns]) - 1) * listLength + rows])
  }

  /// No functions.
  static let none = GeneratedFunctions()

  private init() { (lists, listLength, addresses) = ([0], 1, []) }

  /// Calls the function for a block of rows and columns. Inlined, as callers would otherwise retain the lists each time.
  @inline(__always)
  func call(rows: Int, columns: Int, _ arguments: inout GeneratedArguments) {
    GeneratedFunction(bits: addresses[(Int(lists[columns]) &- 1) &* listLength &+ rows])?.call(&arguments)
  }
}
