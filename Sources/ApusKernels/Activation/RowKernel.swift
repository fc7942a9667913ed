/// A function of rows: the last axis of a tensor.
protocol RowFunction: Sendable {
  associatedtype Argument: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// Computes one row.
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>)
}

/// A function of rows, applied to all.
struct RowMap<Function: RowFunction>: UnaryKernel {
  private let function: Function
  private let rows: Int
  private let depth: Int
  private let rowsPerTile: Int

  /// Applies the function to `rows` rows of `depth` elements.
  init(_ function: Function, rows: Int, depth: Int) {
    self.function = function
    self.rows = rows
    self.depth = depth
    rowsPerTile = max(1, (1 << 13) / max(depth, 1))
  }

  func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(
      input.byteCount >= rows * depth * MemoryLayout<Function.Argument>.stride
        && output.byteCount >= rows * depth * MemoryLayout<Function.Result>.stride)
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        guard rows * depth > 0, let input = input.baseAddress, let output = output.baseAddress else { return }
        let work = unsafe Work(
          function: function, rows: rows, depth: depth, rowsPerTile: rowsPerTile,
          input: input.assumingMemoryBound(to: Function.Argument.self),
          output: output.assumingMemoryBound(to: Function.Result.self))
        threads.run(tiles: ceilingQuotient(rows, rowsPerTile), work)
      }
    }
  }

  private struct Work: TileWork {
    let function: Function
    let rows: Int
    let depth: Int
    let rowsPerTile: Int
    let input: UnsafePointer<Function.Argument>
    let output: UnsafeMutablePointer<Function.Result>

    func run(tile: Int, worker: Int) {
      let first = tile &* rowsPerTile
      for row in first..<min(first &+ rowsPerTile, rows) {
        unsafe function.fill(output + row &* depth, count: depth, input: input + row &* depth)
      }
    }
  }
}
