/// Generated code that copies bytes and turns the highest bit of each.
struct FlippingCode: @unchecked Sendable {
  // @unchecked: the address is of code that is never changed.

  /// The fewest bytes that it takes.
  static let leastCount = 64

  struct Arguments {
    var source: Int
    var count: Int
    var target: Int
    var flip: UInt32 = 0x8080_8080

    static func offset(_ field: PartialKeyPath<Arguments>) -> Int {
      MemoryLayout<Arguments>.offset(of: field) ?? 0
    }
  }

  private typealias Function = @convention(c) (UnsafeRawPointer) -> Void

  let function: UnsafeRawPointer

  /// Copies `count` bytes, at least ``leastCount``, to where none of them lie.
  func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
    let arguments = Arguments(
      source: Int(bitPattern: source), count: count, target: Int(bitPattern: target))
    unsafe withUnsafePointer(to: arguments) { arguments in
      unsafe unsafeBitCast(function, to: Function.self)(UnsafeRawPointer(arguments))
    }
  }
}
