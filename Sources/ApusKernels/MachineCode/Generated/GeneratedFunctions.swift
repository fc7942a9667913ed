/// Generated functions by the rows and columns of their blocks.
struct GeneratedFunctions: @unchecked Sendable {
  // @unchecked: the addresses are of code that is never changed.

  private typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void

  /// Where the functions for a number of columns begin; negative where there are none.
  private var starts: [Int16]
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
        starts[shape.columnCount] = Int16(truncatingIfNeeded: addresses.count)
        for _ in 0...mostRows { addresses.append(0) }
      }
      let index = Int(starts[shape.columnCount]) + shape.rowCount
      guard addresses[index] == 0 else { continue }
      guard let generator = generator(shape), let address = placement(generator) else { return nil }
      addresses[index] = Int(bitPattern: address)
    }
  }

  /// Calls the function for a block of rows and columns. Inlined, as callers would otherwise retain the lists each time.
  @inline(__always)
  func call(rows: Int, columns: Int, _ arguments: inout GeneratedArguments) {
    guard let address = UnsafeRawPointer(bitPattern: addresses[Int(starts[columns]) &+ rows]) else { return }
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafeMutablePointer(to: &arguments) { unsafe function(UnsafeMutableRawPointer($0)) }
  }
}
