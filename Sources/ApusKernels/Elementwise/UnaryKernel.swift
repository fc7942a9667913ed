// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A function of one tensor, ready to run.
package protocol UnaryKernel: Sendable {
  /// Computes the result from a tensor of the shape and type that the kernel was made for.
  func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam)

  /// The kernel as a stage of a chain; nil if it does not compute element by element.
  var stage: ChainStage? { get }

  /// Whether the result may overwrite the operand in place.
  var mayOverwrite: Bool { get }

  /// The code that runs, as `apus inspect --plan` reports it.
  var implementation: String { get }
}

extension UnaryKernel {
  package var stage: ChainStage? { nil }
  package var mayOverwrite: Bool { false }
  package var implementation: String { "portable loops" }
}

/// A function of one element.
protocol UnaryFunction: Sendable {
  associatedtype Argument: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The loop that computes a stretch, as `apus inspect --plan` reports it. Kernels keep it, so it should be a literal.
  var loopDescription: String { get }

  /// The function's value.
  func callAsFunction(_ value: Argument) -> Result

  /// Fills a stretch of the result, which may overwrite the argument in place if its elements are as wide.
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>)
}

extension UnaryFunction {
  var loopDescription: String { "portable loop" }

  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>) {
    for index in 0..<count { unsafe output[index] = self(input[index]) }
  }
}

/// A function of one element, applied to all elements of a tensor.
///
/// The function is held as a closure made where its type is known: a generic conformance would run unspecialized
/// wherever it is reached through a protocol.
@safe struct UnaryMap: UnaryKernel {
  let fill: @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer) -> Void
  /// Computes a row that takes long and polls for a stop; nil unless rows are long and the function has code for them.
  private let fillLong: (@Sendable (UnsafeMutableRawPointer, UnsafeRawPointer, inout StopPoll) -> Void)?
  let loopDescription: String
  /// The function as a float formula, if it has one.
  private(set) var formula: FloatFormula?
  /// The number of elements of a row; zero for a function without rows.
  private let depth: Int
  private let count: Int
  /// The maximum number of elements of a tile.
  private let tileLength: Int
  /// The minimum number of elements of a tile.
  private let minimumTileLength: Int
  /// The number that tile lengths are multiples of: the length of a row, if there are rows.
  private let unit: Int
  private let strides: (argument: Int, result: Int)

  /// Applies the function to `count` elements; with `isCostly`, one takes more than a few nanoseconds.
  ///
  /// - Parameter formula: the function as a formula, if generated code in a chain may compute it.
  @inline(__always)
  init<Function: UnaryFunction>(
    _ function: Function, count: Int, isCostly: Bool = false, formula: FloatFormula? = nil
  ) {
    unsafe fill = { output, count, input in
      unsafe function.fill(
        output.assumingMemoryBound(to: Function.Result.self), count: count,
        input: input.assumingMemoryBound(to: Function.Argument.self))
    }
    unsafe fillLong = nil
    (loopDescription, depth) = (function.loopDescription, 0)
    self.formula = formula
    self.count = count
    tileLength = isCostly ? 1 << 12 : 1 << 15
    minimumTileLength = isCostly ? 1 << 9 : 1 << 12
    unit = 64
    strides = (MemoryLayout<Function.Argument>.stride, MemoryLayout<Function.Result>.stride)
  }

  /// Applies the function to `rows` rows of `depth` elements.
  @inline(__always)
  init<Function: RowFunction>(_ function: Function, rows: Int, depth: Int) {
    unsafe fill = { output, count, input in
      let output = unsafe output.assumingMemoryBound(to: Function.Result.self)
      let input = unsafe input.assumingMemoryBound(to: Function.Argument.self)
      unsafe function.fill(output, rows: depth == 0 ? 0 : count / depth, depth: depth, input: input)
    }
    if Function.hasLongRows, depth > Self.longRow {
      unsafe fillLong = { (output: UnsafeMutableRawPointer, input: UnsafeRawPointer, poll: inout StopPoll) in
        unsafe function.fillLong(
          output.assumingMemoryBound(to: Function.Result.self), count: depth,
          input: input.assumingMemoryBound(to: Function.Argument.self), poll: &poll)
      }
    } else {
      unsafe fillLong = nil
    }
    (loopDescription, self.depth) = (function.loopDescription, depth)
    count = rows * depth
    unit = max(depth, 1)
    tileLength = max(1, (1 << 13) / unit) * unit
    minimumTileLength = 1 << 9
    strides = (MemoryLayout<Function.Argument>.stride, MemoryLayout<Function.Result>.stride)
  }

  /// The longest row, in elements, that needs no poll for a stop while it is computed.
  private static let longRow = 1 << 20

  /// Whether the function applies to any stretch, not to whole rows.
  var takesStretches: Bool { depth == 0 && unit == 64 }
  var elementCount: Int { count }
  /// Whether the result may overwrite the argument: each element is read before the element in its place is written.
  var mayOverwrite: Bool { takesStretches && strides.argument == strides.result }
  /// The bytes of an element of the argument and of the result.
  var elementByteCounts: (argument: Int, result: Int) { strides }

  var implementation: String { depth == 0 ? loopDescription : "\(loopDescription), rows of \(depth)" }

  func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(input.byteCount >= count * strides.argument && output.byteCount >= count * strides.result)
    guard count > 0 else { return }
    unsafe withAddresses(input, &output) { input, output in
      if let fillLong = unsafe fillLong {
        var poll = StopPoll(threads)
        for first in stride(from: 0, to: count, by: depth) {
          unsafe fillLong(output + first &* strides.result, input + first &* strides.argument, &poll)
        }
        return
      }
      let length = roundedUp(
        threads.tileLength(count, least: minimumTileLength, most: tileLength), to: unit)
      // A single tile is computed here: a work item would copy the kernel.
      if count <= length { return unsafe fill(output, count, input) }
      let work = unsafe Work(kernel: self, tileLength: length, input: input, output: output)
      threads.run(tiles: ceilingQuotient(count, length), work)
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let kernel: UnaryMap
    let tileLength: Int
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      let first = tile &* tileLength
      unsafe kernel.fill(
        output + first &* kernel.strides.result, min(tileLength, kernel.count &- first),
        input + first &* kernel.strides.argument)
    }
  }
}

/// A function so costly that an indirect call does not matter.
struct ClosureFunction<Argument: BitwiseCopyable, Result: BitwiseCopyable>: UnaryFunction {
  let body: @Sendable (Argument) -> Result

  var loopDescription: String { "portable loop of calls" }

  @inline(__always)
  func callAsFunction(_ value: Argument) -> Result { body(value) }
}
