/// A function of two tensors, ready to run.
package protocol BinaryKernel: Sendable {
  /// Computes the result; the tensors are as the kernel was made for.
  func run(_ lhs: RawSpan, _ rhs: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam)
}

/// A function of two elements.
protocol BinaryFunction: Sendable {
  associatedtype Left: BitwiseCopyable
  associatedtype Right: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The function's value.
  func callAsFunction(_ lhs: Left, _ rhs: Right) -> Result

  /// Fills a stretch of the result. A step is one, or zero for an operand that stays.
  func fill(
    _ output: UnsafeMutablePointer<Result>, count: Int, lhs: UnsafePointer<Left>, lhsStep: Int,
    rhs: UnsafePointer<Right>, rhsStep: Int)
}

extension BinaryFunction {
  @inline(__always)
  func fill(
    _ output: UnsafeMutablePointer<Result>, count: Int, lhs: UnsafePointer<Left>, lhsStep: Int,
    rhs: UnsafePointer<Right>, rhsStep: Int
  ) {
    if lhsStep == 0 {
      let left = unsafe lhs[0]
      for index in 0..<count { unsafe output[index] = self(left, rhs[index &* rhsStep]) }
    } else if rhsStep == 0 {
      let right = unsafe rhs[0]
      for index in 0..<count { unsafe output[index] = self(lhs[index], right) }
    } else {
      for index in 0..<count { unsafe output[index] = self(lhs[index], rhs[index]) }
    }
  }
}

/// A function of two elements, applied along a plan.
struct BroadcastBinary<Function: BinaryFunction>: BinaryKernel {
  private let function: Function
  private let plan: BroadcastPlan
  private let leftCount: Int
  private let rightCount: Int

  /// Plans the function for operands of these shapes, which broadcast to the result's.
  init(_ function: Function, _ shapes: BroadcastShapes) {
    self.function = function
    plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result)
    leftCount = shapes.lhs.reduce(1, &*)
    rightCount = shapes.rhs.reduce(1, &*)
  }

  func run(_ lhs: RawSpan, _ rhs: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(
      lhs.byteCount >= leftCount * MemoryLayout<Function.Left>.stride
        && rhs.byteCount >= rightCount * MemoryLayout<Function.Right>.stride
        && output.byteCount >= plan.elementCount * MemoryLayout<Function.Result>.stride)
    guard plan.elementCount > 0 else { return }
    unsafe lhs.withUnsafeBytes { lhs in
      unsafe rhs.withUnsafeBytes { rhs in
        unsafe output.withUnsafeMutableBytes { output in
          guard let lhs = lhs.baseAddress, let rhs = rhs.baseAddress, let output = output.baseAddress else {
            return
          }
          let work = unsafe Work(
            function: function, plan: plan, lhs: lhs.assumingMemoryBound(to: Function.Left.self),
            rhs: rhs.assumingMemoryBound(to: Function.Right.self),
            output: output.assumingMemoryBound(to: Function.Result.self))
          threads.run(tiles: plan.tileCount, work)
        }
      }
    }
  }

  private struct Work: TileWork {
    let function: Function
    let plan: BroadcastPlan
    let lhs: UnsafePointer<Function.Left>
    let rhs: UnsafePointer<Function.Right>
    let output: UnsafeMutablePointer<Function.Result>

    func run(tile: Int, worker: Int) {
      plan.forEachStretch(inTile: tile) { offsets, position, count in
        unsafe function.fill(
          output + position, count: count, lhs: lhs + offsets[0], lhsStep: plan.innerSteps[0],
          rhs: rhs + offsets[1], rhsStep: plan.innerSteps[1])
      }
    }
  }
}

/// The shapes of two operands and of the result that they broadcast to.
package struct BroadcastShapes: Hashable, Sendable {
  /// The first operand's sizes.
  package let lhs: [Int]
  /// The second operand's sizes.
  package let rhs: [Int]
  /// The result's sizes.
  package let result: [Int]

  /// Finds the result's shape: sizes aligned at the last are equal or one; nil where they are neither.
  package init?(_ lhs: [Int], _ rhs: [Int]) {
    self.lhs = lhs
    self.rhs = rhs
    let rank = max(lhs.count, rhs.count)
    var result: [Int] = []
    for axis in 0..<rank {
      let left = axis < rank - lhs.count ? 1 : lhs[axis - (rank - lhs.count)]
      let right = axis < rank - rhs.count ? 1 : rhs[axis - (rank - rhs.count)]
      guard left == right || left == 1 || right == 1 else { return nil }
      result.append(left == 1 ? right : left)
    }
    self.result = result
  }
}

/// The types of elements that elementwise kernels compute with.
package enum NumberType: Hashable, Sendable {
  case float32, int8, uint8, int16, uint16, int32, uint32, int64
}
