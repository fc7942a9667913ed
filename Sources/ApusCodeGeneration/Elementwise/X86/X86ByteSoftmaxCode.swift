// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// Softmax of rows of bytes by generated code, for machines that look up bytes in registers.
struct X86ByteSoftmaxCode {
  private typealias Generator = X86ByteSoftmaxGenerator

  private let sums: CodeFunction<X86ByteSoftmaxGenerator.Arguments>
  private let results: CodeFunction<X86ByteSoftmaxGenerator.Arguments>
  private let depth: Int
  /// The exponentials for sums, by difference, in three tables of bytes: first the lowest byte of each exponential.
  private let summands: [UInt8]
  /// The exponentials for results, in the order in which the code reads them.
  private let exponentials: [Int32]

  /// The maximum number of rows computed together, four times four.
  private static let maximumRows = 16
  /// The exponential of zero in units of 2⁻¹⁹, the minimum of a sum. A smaller sum has overflowed.
  private static let minimumSum: Int32 = 1 << 19

  /// Intermediate values of the rows that are computed together.
  private struct Facts {
    struct Four {
      var rows = (Generator.Row(), Generator.Row(), Generator.Row(), Generator.Row())
    }

    var rows = (Four(), Four(), Four(), Four())
  }

  /// Prepares rows of `depth` bytes; throws if code cannot be placed.
  ///
  /// - Parameters:
  ///   - exponentials: those of all 256 differences from a row's maximum, as Q0.
  ///   - summands: the exponentials in units of 2⁻¹⁹.
  init(exponentials: [Int32], summands: [Int32], isSigned: Bool, depth: Int) throws(Decline) {
    // Smaller exponentials, times an inverse below one, are less than half of a result's unit, which is 2²³.
    let end = (exponentials.lastIndex { $0 > 1 << 22 - 2 } ?? 0) + 1
    func generator(_ part: Generator.Part, tableCount: Int) -> Generator {
      Generator(
        part: part, isSigned: isSigned, hasWhole: depth >= 64, hasRest: depth % 64 != 0,
        tableCount: tableCount)
    }
    sums = try unsafe CodeFunction(generator(.sums, tableCount: 0))
    results = try unsafe CodeFunction(generator(.results, tableCount: ceilingQuotient(end, 64)))
    self.depth = depth
    self.summands = (0..<3).flatMap { byte in summands.map { UInt8(truncatingIfNeeded: $0 >> (8 * byte)) } }
    self.exponentials = Generator.order(exponentials)
  }

  /// Computes rows up to the first whose sum has overflowed, and returns the number of rows computed.
  func fill(_ output: UnsafeMutableRawPointer, rows: Int, input: UnsafeRawPointer) -> Int {
    ExecutableMemory.seal()
    let most = max(1, min(Self.maximumRows, (1 << 13) / depth))
    // A temporary allocation of this size and alignment would come from the heap.
    var memory = Facts()
    return unsafe withUnsafeMutablePointer(to: &memory) { memory in
      let facts = unsafe UnsafeMutableRawPointer(memory).assumingMemoryBound(to: Generator.Row.self)
      var done = 0
      while done < rows {
        let wanted = min(most, rows &- done)
        var arguments = Generator.Arguments(
          source: Int(bitPattern: unsafe input + done &* depth),
          target: Int(bitPattern: unsafe output + done &* depth),
          rows: wanted, rowByteCount: depth, wholeByteCount: depth & ~63, mask: 1 &<< (depth & 63) &- 1,
          facts: Int(bitPattern: facts))
        unsafe summands.withUnsafeBufferPointer { tables in
          arguments.tables = Int(bitPattern: tables.baseAddress)
          var own = arguments
          sums.call(&own)
        }
        var count = 0
        while count < wanted, unsafe invert(&facts[count]) { count &+= 1 }
        arguments.rows = count
        if count > 0 {
          unsafe exponentials.withUnsafeBufferPointer { tables in
            arguments.tables = Int(bitPattern: tables.baseAddress)
            var own = arguments
            results.call(&own)
          }
        }
        done &+= count
        if count < wanted { break }
      }
      return done
    }
  }

  /// Finds the inverse of a row's sum; false if the sum has overflowed.
  @inline(__always)
  private func invert(_ row: inout X86ByteSoftmaxGenerator.Row) -> Bool {
    let sum = row.sums.wrappedSum()
    guard sum >= Self.minimumSum else { return false }
    let (scale, bits) = FixedPointFunctions.reciprocal(sum, integerBits: 12)
    row.scale = Int(scale)
    // The bits of a result are the last eight of 31.
    row.shift = Int(min(bits &+ 23, 31) &- 1)
    return true
  }
}

extension X86Target {
  /// Code for softmax of bytes; throws if there is none, or it cannot be placed.
  func byteSoftmax(
    exponentials: [Int32], summands: [Int32], isSigned: Bool, depth: Int
  ) throws(Decline) -> ByteSoftmaxMapping {
    guard self == .avx512, CPUFeatures.current.contains(.avx512VBMI) else {
      throw Decline("there is no code that looks bytes up in registers")
    }
    guard exponentials.count == 256, summands.count == 256, depth > 0 else {
      throw Decline("tables of \(exponentials.count) and \(summands.count) exponentials do not have 256")
    }
    let code = try X86ByteSoftmaxCode(
      exponentials: exponentials, summands: summands, isSigned: isSigned, depth: depth)
    return { output, rows, input in unsafe code.fill(output, rows: rows, input: input) }
  }
}
