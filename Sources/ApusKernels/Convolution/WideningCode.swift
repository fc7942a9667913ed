/// Generated code that widens bytes, signed or not, to 16 bits and takes off their zero point: whole steps of them.
struct WideningCode: @unchecked Sendable {
  // @unchecked: the address is of code that is never changed.

  /// Bytes of a step.
  static let step = 64

  struct Arguments {
    var source: Int
    var steps: Int
    var lanes: Int
    var zeroPoint: Int16

    static func offset(_ field: PartialKeyPath<Arguments>) -> Int {
      MemoryLayout<Arguments>.offset(of: field) ?? 0
    }
  }

  private typealias Function = @convention(c) (UnsafeRawPointer) -> Void

  let function: UnsafeRawPointer

  /// Converts `steps` steps, at least one.
  func convert(
    _ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Int16>, steps: Int, zeroPoint: Int16
  ) {
    let arguments = Arguments(
      source: Int(bitPattern: source), steps: steps, lanes: Int(bitPattern: lanes), zeroPoint: zeroPoint)
    unsafe withUnsafePointer(to: arguments) { arguments in
      unsafe unsafeBitCast(function, to: Function.self)(UnsafeRawPointer(arguments))
    }
  }
}
