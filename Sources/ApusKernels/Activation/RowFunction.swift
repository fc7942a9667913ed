/// A function of rows: the last axis of a tensor.
protocol RowFunction: Sendable {
  associatedtype Argument: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// Computes one row.
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>)
}
