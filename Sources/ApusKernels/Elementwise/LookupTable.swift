// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A function of bytes, tabulated for each of the 256 values.
package struct ByteTable: Sendable {
  /// The result for each byte.
  package let results: [UInt8]

  /// Computes the table from the low bytes of the results; bytes stand for signed integers if `isSigned`.
  package init(isSigned: Bool, _ function: (Int32) -> Int32) {
    results = (0..<256).map { byte in
      UInt8(truncatingIfNeeded: function(Int32(byte: byte, isSigned: isSigned)))
    }
  }

  /// The kernel for `count` bytes: code of the kernel set if it has some, otherwise a portable loop.
  package func choose(count: Int, using set: KernelSet) -> KernelSet.Chosen<any UnaryKernel> {
    let first = results[0]
    // From uint8 to int8 of the same scale, requantization flips only the sign bit.
    let isFlip = results.indices.allSatisfy { results[$0] == UInt8($0) ^ first }
    let table = Table(count: isFlip ? 0 : 256) { results[$0] }
    func map(_ mapping: ByteMapping?) -> any UnaryKernel {
      unsafe UnaryMap(TableFunction(table: table, mapping: mapping), count: count)
    }
    return set.choose(
      otherwise: isFlip ? UnaryMap(BitFlip(bits: first), count: count) : map(nil)
    ) { set throws(Decline) in
      guard !isFlip else {
        throw Decline("the table is x XOR a constant, so no lookup is needed")
      }
      guard count >= 256 else { throw Decline("\(count) bytes are fewer than 256") }
      return unsafe map(try set.generatedKernels().byteMapping(results))
    }
  }
}

/// Maps whole blocks of bytes and returns the number of bytes mapped, at most `count`.
package typealias ByteMapping =
  @Sendable (
    _ output: UnsafeMutableRawPointer, _ count: Int, _ input: UnsafeRawPointer
  ) -> Int

/// Functions from bytes to `int16`, tabulated for each of the 256 values.
package enum LookupTable {
  /// A kernel from bytes to `int16` that keeps the low 16 bits of each result.
  package static func words(isSigned: Bool, count: Int, _ function: (Int32) -> Int32) -> any UnaryKernel {
    let table = Table(count: 256) { byte in
      Int16(truncatingIfNeeded: function(Int32(byte: byte, isSigned: isSigned)))
    }
    return unsafe UnaryMap(TableFunction(table: table, mapping: nil), count: count)
  }
}

extension Int32 {
  /// The integer that a byte in 0...255 stands for.
  @inline(__always)
  init(byte: Int, isSigned: Bool) {
    self = isSigned ? Int32(Int8(truncatingIfNeeded: byte)) : Int32(truncatingIfNeeded: byte)
  }
}

/// Flips the same bits of each byte.
private struct BitFlip: UnaryFunction {
  let bits: UInt8

  var loopDescription: String { "portable change of bits" }

  @inline(__always)
  func callAsFunction(_ value: UInt8) -> UInt8 { value ^ bits }
}

@safe private struct TableFunction<Result: BitwiseCopyable & Sendable>: UnaryFunction {
  let table: Table<Result>
  /// Code that maps whole blocks, if there is any.
  let mapping: ByteMapping?

  var loopDescription: String {
    unsafe mapping == nil ? "portable table of 256 values" : "generated look-up of vectors of bytes"
  }

  @inline(__always)
  func callAsFunction(_ value: UInt8) -> Result { unsafe table.values[Int(value)] }

  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<UInt8>) {
    let values = unsafe table.values
    let done = unsafe mapping?(output, count, input) ?? 0
    for index in done..<count { unsafe output[index] = values[Int(input[index])] }
  }
}

/// Values computed once, by index.
@safe final class Table<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
  // @unchecked: written by `init` alone.

  /// The values, as many as were requested.
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
