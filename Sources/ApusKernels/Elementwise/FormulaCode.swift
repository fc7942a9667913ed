// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code that computes a ``FloatFormula`` for rows of elements.
package final class FormulaCode: Sendable {
  /// The arguments of the generated function: addresses and counts, with strides in bytes.
  package struct Arguments: CodeArguments {
    /// The addresses of the inputs' first rows.
    package var inputs = SIMD8<Int>()
    /// The inputs' strides from row to row, in bytes.
    package var strides = SIMD8<Int>()
    package var output = 0
    package var outputStride = 0
    package var rows = 0
    /// The number of elements of a row.
    package var count = 0
    /// The number of elements of a row that are computed several vectors at a time.
    package var wideCount = 0
    package var constants = 0
    /// The divisor of the sums of rows.
    package var divisor: Float = 1
    /// The permutation of 32-bit lanes, a byte for each, that undoes in-lane packing.
    package var order: UInt64 = 0x0703_0602_0501_0400
  }

  let function: CodeFunction<Arguments>
  /// The forms of the inputs.
  package let inputs: [FloatFormula.Input]
  let output: FloatFormula.Output
  /// The floats of a vector, at most 16.
  package let lanes: Int
  /// The number of vectors computed at a time.
  let vectorsAtOnce: Int
  /// The constants that the code reads, each a single value or repeated in all lanes of a vector.
  let constants: [UInt32]

  /// A function that reads `constants` and computes `vectorsAtOnce` vectors of `lanes` floats at a time.
  package init(
    function: CodeFunction<Arguments>, inputs: [FloatFormula.Input], output: FloatFormula.Output, lanes: Int,
    vectorsAtOnce: Int, constants: [UInt32]
  ) {
    self.function = function
    self.inputs = inputs
    self.output = output
    self.lanes = lanes
    self.vectorsAtOnce = vectorsAtOnce
    self.constants = constants
  }

  /// Row lengths that are multiples of this allow several rows in one call, and sums of rows.
  package static let unit = 16

  /// The addresses of inputs and results, and their strides from row to row.
  package struct Rows: Sendable {
    package var count = 1
    package var output: Int
    package var outputStride = 0
    package var inputs: SIMD8<Int>
    package var strides = SIMD8<Int>()
    /// The divisor of the sums of rows.
    var divisor: Float = 1

    /// Describes rows by their addresses; strides are in bytes.
    package init(
      count: Int = 1, output: Int, outputStride: Int = 0, inputs: SIMD8<Int>, strides: SIMD8<Int> = SIMD8(),
      divisor: Float = 1
    ) {
      self.count = count
      self.output = output
      self.outputStride = outputStride
      self.inputs = inputs
      self.strides = strides
      self.divisor = divisor
    }
  }

  /// Computes `count` elements from one input.
  package func map(_ input: Int, to output: Int, count: Int) {
    run(.init(output: output, inputs: SIMD8(input, 0, 0, 0, 0, 0, 0, 0)), depth: count)
  }

  /// Computes rows of `depth` elements, or the sum of each row. Unless `depth` is a multiple of ``unit``, there is one row and
  /// no sum.
  package func run(_ rows: Rows, depth: Int) {
    guard depth > 0, rows.count > 0 else { return }
    precondition(output != .sum || depth.isMultiple(of: Self.unit))
    ExecutableMemory.seal()
    let vectors = depth / lanes
    var arguments = Arguments(
      inputs: rows.inputs, strides: rows.strides, output: rows.output, outputStride: rows.outputStride,
      rows: rows.count, count: vectors &* lanes,
      wideCount: vectors / vectorsAtOnce &* vectorsAtOnce &* lanes, divisor: rows.divisor)
    unsafe constants.withUnsafeBufferPointer { constants in
      arguments.constants = Int(bitPattern: constants.baseAddress)
      let done = vectors &* lanes
      if done == depth { return function.call(arguments) }
      precondition(rows.count == 1)
      // The remainder is read before anything is written, as results may overwrite inputs. It is computed in a zero-padded
      // copy.
      unsafe withUnsafeTemporaryAllocation(
        byteCount: (FloatFormula.maximumInputs + 1) * 64, alignment: 16
      ) { memory in
        guard let memory = memory.baseAddress else { return }
        unsafe memory.initializeMemory(
          as: UInt8.self, repeating: 0, count: (FloatFormula.maximumInputs + 1) * 64)
        let result = unsafe memory + FloatFormula.maximumInputs * 64
        let rest = depth &- done
        var last = arguments
        for (index, input) in inputs.enumerated() where input != .repeatedFloat {
          let place = unsafe memory + index &* 64
          let address = rows.inputs[index] &+ done &* input.byteCount
          guard let source = unsafe UnsafeRawPointer(bitPattern: address) else { return }
          unsafe place.copyMemory(from: source, byteCount: rest &* input.byteCount)
          last.inputs[index] = Int(bitPattern: place)
        }
        last.output = Int(bitPattern: result)
        last.count = lanes
        last.wideCount = 0
        function.call(last)
        if done > 0 { function.call(arguments) }
        let stride = output.byteCount
        guard let target = unsafe UnsafeMutableRawPointer(bitPattern: rows.output &+ done &* stride) else {
          return
        }
        unsafe target.copyMemory(from: result, byteCount: rest &* stride)
      }
    }
  }
}
