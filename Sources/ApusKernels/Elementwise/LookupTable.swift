/// Functions of bytes, each of the 256 values computed once.
package enum LookupTable {
  /// A kernel of bytes to bytes, of which the low ones of the results are kept.
  package static func bytes(isSigned: Bool, count: Int, _ function: (Int32) -> Int32) -> any UnaryKernel {
    let table = TableFunction(isSigned: isSigned) { UInt8(truncatingIfNeeded: function($0)) }
    let first = table(0)
    // From uint8 to int8 of the same scale, only a bit changes.
    let flipsBits = (0..<256).allSatisfy { table(UInt8($0)) == UInt8($0) ^ first }
    return flipsBits ? UnaryMap(BitFlip(bits: first), count: count) : UnaryMap(table, count: count)
  }

  /// A kernel of bytes to `int16`, of whose results the low half is kept.
  package static func words(isSigned: Bool, count: Int, _ function: (Int32) -> Int32) -> any UnaryKernel {
    UnaryMap(TableFunction(isSigned: isSigned) { Int16(truncatingIfNeeded: function($0)) }, count: count)
  }
}

/// Changes some bits of each byte.
private struct BitFlip: UnaryFunction {
  let bits: UInt8

  @inline(__always)
  func callAsFunction(_ value: UInt8) -> UInt8 { value ^ bits }
}

private struct TableFunction<Result: BitwiseCopyable & Sendable>: UnaryFunction {
  private let table: Table<Result>

  init(isSigned: Bool, _ function: (Int32) -> Result) {
    table = Table(count: 256) { byte in
      function(isSigned ? Int32(Int8(truncatingIfNeeded: byte)) : Int32(byte))
    }
  }

  @inline(__always)
  func callAsFunction(_ value: UInt8) -> Result { unsafe table.values[Int(value)] }

  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<UInt8>) {
    let values = unsafe table.values
    for index in 0..<count { unsafe output[index] = values[Int(input[index])] }
  }
}

/// Values computed once.
final class Table<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
  // @unchecked: written by `init` alone.

  /// As many as were asked for.
  let values: UnsafePointer<Value>
  private let memory: UnsafeMutablePointer<Value>

  /// Computes each value from its index.
  init(count: Int, _ value: (Int) -> Value) {
    unsafe memory = .allocate(capacity: count)
    for index in 0..<count { unsafe (memory + index).initialize(to: value(index)) }
    unsafe values = UnsafePointer(memory)
  }

  deinit {
    unsafe memory.deallocate()
  }
}
