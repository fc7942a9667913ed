import Synchronization

/// A generated function of ``GeneratedArguments``.
struct GeneratedFunction: @unchecked Sendable {
  // @unchecked: the address is of code that is never changed.

  private typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void

  private let address: UnsafeRawPointer

  /// What a generator writes; nil where there is none, or its code cannot be placed.
  init?(_ generator: (any CodeGenerator)?, placement: CodePlacement) {
    guard let generator, let address = placement(generator) else { return nil }
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
  /// Where the functions for a number of columns begin; negative where there are none.
  private var starts: [Int]
  /// Zero where there is no function.
  private var addresses: [Int] = []

  /// The functions for these shapes; nil where one cannot be placed.
  init?(
    _ shapes: [GeneratedShape], placement: CodePlacement, generator: (GeneratedShape) -> (any CodeGenerator)?
  ) {
    var (mostRows, mostColumns) = (0, 0)
    for shape in shapes {
      mostRows = max(mostRows, shape.rowCount)
      mostColumns = max(mostColumns, shape.columnCount)
    }
    starts = []
    starts.reserveCapacity(1 + mostColumns)
    for _ in 0...mostColumns { starts.append(-1) }
    addresses.reserveCapacity(2 * (1 + mostRows))
    for shape in shapes {
      if starts[shape.columnCount] < 0 {
        starts[shape.columnCount] = addresses.count
        for _ in 0...mostRows { addresses.append(0) }
      }
      let index = starts[shape.columnCount] + shape.rowCount
      guard addresses[index] == 0 else { continue }
      guard let function = GeneratedFunction(generator(shape), placement: placement) else { return nil }
      addresses[index] = function.bits
    }
  }

  /// The function for a block of rows and columns.
  func function(rows: Int, columns: Int) -> GeneratedFunction? {
    guard columns < starts.count, starts[columns] >= 0 else { return nil }
    return GeneratedFunction(bits: addresses[Int(starts[columns]) + rows])
  }

  private static let making = Mutex(0)

  /// Makes functions that a run turns out to need, once, whether or not the limit for code is reached.
  ///
  /// There are few of them, as their shapes are; without memory for them the process ends.
  static func make(_ functions: inout Self?, _ body: (CodePlacement) -> Self?) {
    making.withLock { _ in
      if functions == nil { functions = body { $0.place(withinLimit: false) } }
      precondition(functions != nil, "no memory for code")
    }
  }

  /// Calls the function for a block of rows and columns. Inlined, as callers would otherwise retain the lists each time.
  @inline(__always)
  func call(rows: Int, columns: Int, _ arguments: inout GeneratedArguments) {
    GeneratedFunction(bits: addresses[starts[columns] &+ rows])?.call(&arguments)
  }
}
