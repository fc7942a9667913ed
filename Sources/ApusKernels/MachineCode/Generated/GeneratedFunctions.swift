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

  @inline(__always)
  func call(_ arguments: inout GeneratedArguments) {
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafeMutablePointer(to: &arguments) { unsafe function(UnsafeMutableRawPointer($0)) }
  }
}

/// Generated functions by the rows and columns of their blocks.
struct GeneratedFunctions: Sendable {
  /// Where the functions for a number of columns begin; negative where there are none.
  private var starts: [Int16]
  private var functions: [GeneratedFunction?] = []

  /// The functions for these shapes; nil where one cannot be placed.
  init?(
    _ shapes: [GeneratedShape], placement: CodePlacement, generator: (GeneratedShape) -> (any CodeGenerator)?
  ) {
    starts = Array(repeating: -1, count: 1 + (shapes.map(\.columnCount).max() ?? 0))
    let most = shapes.map(\.rowCount).max() ?? 0
    for shape in shapes {
      if starts[shape.columnCount] < 0 {
        starts[shape.columnCount] = Int16(truncatingIfNeeded: functions.count)
        functions += Array(repeating: nil, count: 1 + most)
      }
      let index = Int(starts[shape.columnCount]) + shape.rowCount
      guard functions[index] == nil else { continue }
      guard let function = GeneratedFunction(generator(shape), placement: placement) else { return nil }
      functions[index] = function
    }
  }

  /// Calls the function for a block of rows and columns. Inlined, as callers would otherwise retain the lists each time.
  @inline(__always)
  func call(rows: Int, columns: Int, _ arguments: inout GeneratedArguments) {
    functions[Int(starts[columns]) &+ rows]?.call(&arguments)
  }
}
