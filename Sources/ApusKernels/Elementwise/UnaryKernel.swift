/// A function of one tensor, ready to run.
package protocol UnaryKernel: Sendable {
  /// Computes the result; the tensors are as the kernel was made for.
  func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam)
}

/// A function of one element.
protocol UnaryFunction: Sendable {
  associatedtype Argument: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The function's value.
  func callAsFunction(_ value: Argument) -> Result

  /// Fills a stretch of the result.
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>)
}

extension UnaryFunction {
  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Result>, count: Int, input: UnsafePointer<Argument>) {
    for index in 0..<count { unsafe output[index] = self(input[index]) }
  }
}

/// A function of one element, applied to all.
struct UnaryMap<Function: UnaryFunction>: UnaryKernel {
  private let function: Function
  private let count: Int
  private let tileLength: Int

  /// Applies the function to `count` elements; `isCostly` says that one takes more than a few nanoseconds.
  init(_ function: Function, count: Int, isCostly: Bool = false) {
    self.function = function
    self.count = count
    tileLength = isCostly ? 1 << 12 : 1 << 15
  }

  func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(
      input.byteCount >= count * MemoryLayout<Function.Argument>.stride
        && output.byteCount >= count * MemoryLayout<Function.Result>.stride)
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        guard count > 0, let input = input.baseAddress, let output = output.baseAddress else { return }
        let work = unsafe Work(
          function: function, count: count, tileLength: tileLength,
          input: input.assumingMemoryBound(to: Function.Argument.self),
          output: output.assumingMemoryBound(to: Function.Result.self))
        threads.run(tiles: ceilingQuotient(count, tileLength), work)
      }
    }
  }

  private struct Work: TileWork {
    let function: Function
    let count: Int
    let tileLength: Int
    let input: UnsafePointer<Function.Argument>
    let output: UnsafeMutablePointer<Function.Result>

    func run(tile: Int, worker: Int) {
      let first = tile &* tileLength
      unsafe function.fill(output + first, count: min(tileLength, count &- first), input: input + first)
    }
  }
}

/// A function that is dear enough for a call through a reference.
struct ClosureFunction<Argument: BitwiseCopyable, Result: BitwiseCopyable>: UnaryFunction {
  let body: @Sendable (Argument) -> Result

  @inline(__always)
  func callAsFunction(_ value: Argument) -> Result { body(value) }
}
