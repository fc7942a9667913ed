// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A function of two tensors, ready to run.
package protocol BinaryKernel: Sendable {
  /// Computes the result from tensors of the shapes and types that the kernel was made for.
  func run(_ lhs: RawSpan, _ rhs: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam)

  /// A kernel that also applies `tail` to the results in the same pass; nil if this kernel cannot.
  func followed(by tail: PostOperation) -> (any BinaryKernel)?

  /// The kernel as a stage of a chain; nil if an operand is broadcast in a way that ``ChainStage`` cannot describe.
  var stage: ChainStage? { get }

  /// Whether the result may overwrite the first or the second operand in place. The other operand must then not overlap the
  /// result, or must be the same elements in the same order.
  var mayOverwrite: (lhs: Bool, rhs: Bool) { get }

  /// The code that runs, as `apus inspect --plan` reports it.
  var implementation: String { get }
  /// Why it is not faster code of the same set.
  var notes: [String] { get }
}

extension BinaryKernel {
  package var notes: [String] { [] }
  package var implementation: String { "portable loops" }
  package func followed(by tail: PostOperation) -> (any BinaryKernel)? { nil }
  package var stage: ChainStage? { nil }
  package var mayOverwrite: (lhs: Bool, rhs: Bool) { (false, false) }
}

/// A function of two elements.
package protocol BinaryFunction: Sendable {
  associatedtype Left: BitwiseCopyable
  associatedtype Right: BitwiseCopyable
  associatedtype Result: BitwiseCopyable

  /// The fewest elements worth a tile of their own: computing them takes longer than another thread needs to begin.
  static var minimumTileLength: Int { get }

  /// The loop that computes a stretch, as `apus inspect --plan` reports it. Kernels keep it, so it should be a literal.
  var loopDescription: String { get }

  /// Why it is not faster code of the same set.
  var notes: [String] { get }

  /// The function's value.
  func callAsFunction(_ lhs: Left, _ rhs: Right) -> Result

  /// Whether ``fill(_:rows:depth:lhs:lhsSteps:rhs:rhsSteps:)`` is faster for rows of `depth` elements than a call for each row.
  func takesRows(of depth: Int) -> Bool

  /// Fills consecutive rows of the result. An operand has a step along a row, one or zero, and a stride from row to row.
  func fill(
    _ output: UnsafeMutablePointer<Result>, rows: Int, depth: Int, lhs: UnsafePointer<Left>,
    lhsSteps: RowSteps, rhs: UnsafePointer<Right>, rhsSteps: RowSteps)

  /// Fills consecutive elements of the result. An operand's step is one, or zero for a scalar that is broadcast. The result may
  /// overwrite in place an operand whose elements are as wide.
  func fill(
    _ output: UnsafeMutablePointer<Result>, count: Int, lhs: UnsafePointer<Left>, lhsStep: Int,
    rhs: UnsafePointer<Right>, rhsStep: Int)
}

/// An operand's step along a row, and its stride from row to row, in elements.
package typealias RowSteps = (inner: Int, row: Int)

extension BinaryFunction {
  package func takesRows(of depth: Int) -> Bool { false }

  @inline(__always)
  package func fill(
    _ output: UnsafeMutablePointer<Result>, rows: Int, depth: Int, lhs: UnsafePointer<Left>,
    lhsSteps: RowSteps, rhs: UnsafePointer<Right>, rhsSteps: RowSteps
  ) {
    for row in 0..<rows {
      unsafe fill(
        output + row &* depth, count: depth, lhs: lhs + row &* lhsSteps.row, lhsStep: lhsSteps.inner,
        rhs: rhs + row &* rhsSteps.row, rhsStep: rhsSteps.inner)
    }
  }

  package static var minimumTileLength: Int { 1 << 12 }
  package var loopDescription: String { "portable loop" }
  package var notes: [String] { [] }

  @inline(__always)
  package func fill(
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

/// A function of two elements, applied to broadcast operands along a ``BroadcastPlan``.
///
/// The function is held as a closure made where its type is known: a generic conformance would run unspecialized wherever it is
/// reached through a protocol. The kernel is a class, so that a run does not copy it.
@safe package final class BroadcastBinary: BinaryKernel {
  private typealias Fill =
    @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> Void

  private typealias FillRows =
    @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer, RowSteps, UnsafeRawPointer, RowSteps) -> Void

  private let fill: Fill
  /// Computes several rows in one call; nil if the function is called for each stretch.
  private let fillRows: FillRows?
  private let loopDescription: String
  package let notes: [String]
  private let plan: BroadcastPlan
  private let counts: (lhs: Int, rhs: Int)
  private let patterns: (lhs: BroadcastShapes.BroadcastPattern, rhs: BroadcastShapes.BroadcastPattern)?
  private let strides: (lhs: Int, rhs: Int, result: Int)
  private let minimumTileLength: Int
  private let computesFloats: Bool
  private let tail: PostOperation?
  /// The function and the tail as a float formula that generated code can compute in a chain.
  private let formula: FloatFormula?

  /// Plans the function for operands whose shapes broadcast to the result's.
  ///
  /// - Parameter formula: the function as a formula, if generated code in a chain may compute it.
  @inline(__always)
  package init<Function: BinaryFunction>(
    _ function: Function, _ shapes: BroadcastShapes, formula: FloatFormula? = nil
  ) {
    unsafe fill = { output, count, lhs, lhsStep, rhs, rhsStep in
      unsafe function.fill(
        output.assumingMemoryBound(to: Function.Result.self), count: count,
        lhs: lhs.assumingMemoryBound(to: Function.Left.self), lhsStep: lhsStep,
        rhs: rhs.assumingMemoryBound(to: Function.Right.self), rhsStep: rhsStep)
    }
    (loopDescription, notes) = (function.loopDescription, function.notes)
    let plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result)
    let depth = plan.longestStretch
    if plan.rowSteps != nil, function.takesRows(of: depth) {
      unsafe fillRows = { output, rows, lhs, lhsSteps, rhs, rhsSteps in
        unsafe function.fill(
          output.assumingMemoryBound(to: Function.Result.self), rows: rows, depth: depth,
          lhs: lhs.assumingMemoryBound(to: Function.Left.self), lhsSteps: lhsSteps,
          rhs: rhs.assumingMemoryBound(to: Function.Right.self), rhsSteps: rhsSteps)
      }
      self.plan = plan
    } else {
      unsafe fillRows = nil
      self.plan = BroadcastPlan([shapes.lhs, shapes.rhs], to: shapes.result, joiningRows: true)
    }
    patterns = shapes.patterns
    counts = (shapes.lhs.reduce(1, &*), shapes.rhs.reduce(1, &*))
    strides = (
      MemoryLayout<Function.Left>.stride, MemoryLayout<Function.Right>.stride,
      MemoryLayout<Function.Result>.stride
    )
    minimumTileLength = Function.minimumTileLength
    computesFloats = Function.Result.self == Float.self
    (tail, self.formula) = (nil, formula)
  }

  /// The kernel of `function` with `tail` applied to its results.
  private init(_ function: BroadcastBinary, followedBy tail: PostOperation) {
    unsafe (fill, fillRows) = (function.fill, function.fillRows)
    (loopDescription, notes) = (function.loopDescription, function.notes)
    (plan, counts, patterns) = (function.plan, function.counts, function.patterns)
    (strides, minimumTileLength) = (function.strides, function.minimumTileLength)
    computesFloats = function.computesFloats
    self.tail = tail
    formula = tail.floatFunction.flatMap { function.formula?.followed(by: $0) }
  }

  package var implementation: String {
    guard unsafe fillRows == nil else { return "\(loopDescription), rows of \(plan.longestStretch)" }
    let rows =
      plan.repeated.map {
        "rows of \($0.period) repeated in \(1024 / max(strides.lhs, strides.rhs)) elements"
      }
      ?? "stretches of up to \(plan.longestStretch) elements"
    return "\(loopDescription), \(rows)"
  }

  package var stage: ChainStage? {
    guard let patterns else { return nil }
    return unsafe ChainStage(
      fill: fill, loopDescription: loopDescription, tail: tail, formula: formula,
      operands: [
        .init(period: patterns.lhs.period, stride: strides.lhs, repeats: patterns.lhs.repeats),
        .init(period: patterns.rhs.period, stride: strides.rhs, repeats: patterns.rhs.repeats),
      ],
      elementCount: self.plan.elementCount, stride: strides.result, mayOverwrite: true)
  }

  /// The result may overwrite an operand with as many elements, each as wide: every element is read before the element in its
  /// place is written. Loops run forward in blocks that are read whole, and ``FormulaCode`` reads the remainder of a stretch
  /// first.
  package var mayOverwrite: (lhs: Bool, rhs: Bool) {
    (
      strides.lhs == strides.result && counts.lhs == plan.elementCount,
      strides.rhs == strides.result && counts.rhs == plan.elementCount
    )
  }

  package func followed(by tail: PostOperation) -> (any BinaryKernel)? {
    guard computesFloats, self.tail == nil, plan.repeated == nil, unsafe fillRows == nil else { return nil }
    return BroadcastBinary(self, followedBy: tail)
  }

  package func run(_ lhs: RawSpan, _ rhs: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(
      lhs.byteCount >= counts.lhs * strides.lhs && rhs.byteCount >= counts.rhs * strides.rhs
        && output.byteCount >= plan.elementCount * strides.result)
    guard plan.elementCount > 0 else { return }
    unsafe lhs.withUnsafeBytes { lhs in
      unsafe rhs.withUnsafeBytes { rhs in
        unsafe output.withUnsafeMutableBytes { output in
          guard let lhs = lhs.baseAddress, let rhs = rhs.baseAddress, let output = output.baseAddress else {
            return
          }
          let work = unsafe Work(
            kernel: self, tiling: plan.tiling(threads, least: minimumTileLength), lhs: lhs, rhs: rhs,
            output: output)
          threads.run(tiles: work.tiling.count, work)
        }
      }
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let kernel: BroadcastBinary
    let tiling: BroadcastPlan.Tiling
    let lhs: UnsafeRawPointer
    let rhs: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      if let repeated = kernel.plan.repeated { return runRepeating(repeated, tile: tile) }
      if let tail = kernel.tail { return run(tile: tile, tail) }
      let (plan, strides) = (kernel.plan, kernel.strides)
      if let fillRows = unsafe kernel.fillRows, let steps = plan.rowSteps,
        let rows = plan.rows(ofTile: tile, of: tiling)
      {
        let first = rows.lowerBound
        return unsafe fillRows(
          output + first &* plan.longestStretch &* strides.result, rows.count,
          lhs + first &* steps[0] &* strides.lhs, (plan.innerSteps[0], steps[0]),
          rhs + first &* steps[1] &* strides.rhs, (plan.innerSteps[1], steps[1]))
      }
      plan.forEachStretch(inTile: tile, of: tiling) { offsets, position, count in
        unsafe kernel.fill(
          output + position &* strides.result, count, lhs + offsets[0] &* strides.lhs, plan.innerSteps[0],
          rhs + offsets[1] &* strides.rhs, plan.innerSteps[1])
      }
    }

    /// Applies the tail after every few kilobytes, while the results are still in the cache.
    private func run(tile: Int, _ tail: PostOperation) {
      let (plan, strides) = (kernel.plan, kernel.strides)
      let results = unsafe output.assumingMemoryBound(to: Float.self)
      plan.forEachStretch(inTile: tile, of: tiling) { offsets, position, count in
        var done = 0
        while done < count {
          let part = min(count &- done, PostOperation.stretch)
          let (left, right) = (
            offsets[0] &+ done &* plan.innerSteps[0], offsets[1] &+ done &* plan.innerSteps[1]
          )
          let place = position &+ done
          unsafe kernel.fill(
            output + place &* strides.result, part, lhs + left &* strides.lhs, plan.innerSteps[0],
            rhs + right &* strides.rhs, plan.innerSteps[1])
          unsafe tail.apply(to: results + place, position: place, count: part)
          done &+= part
        }
      }
    }

    /// Copies the repeated operand's row side by side on the stack, so that one call computes several rows.
    private func runRepeating(_ repeated: BroadcastPlan.Repetition, tile: Int) {
      let (plan, strides, period) = (kernel.plan, kernel.strides, repeated.period)
      let repeatsLeft = repeated.operand == 0
      let stride = repeatsLeft ? strides.lhs : strides.rhs
      // A temporary allocation of a kilobyte comes from the stack.
      let length = 1024 / stride / period &* period
      unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { memory in
        guard let row = memory.baseAddress else { return }
        plan.forEachStretch(inTile: tile, of: tiling) { offsets, position, count in
          let source = unsafe (repeatsLeft ? lhs : rhs) + offsets[repeated.operand] &* stride
          // Rows are whole, so the remainder of a position is the offset within a row.
          var phase = position % period
          let needed = min(length, roundedUp(phase &+ count, to: period)) &* stride
          var filled = period &* stride
          unsafe row.copyMemory(from: source, byteCount: filled)
          while filled < needed {
            let part = min(filled, needed &- filled)
            unsafe (row + filled).copyMemory(from: row, byteCount: part)
            filled &+= part
          }
          var done = 0
          while done < count {
            let part = min(count &- done, length &- phase)
            let other = unsafe (repeatsLeft ? rhs : lhs)
            let place = offsets[1 &- repeated.operand] &+ done
            let left =
              unsafe repeatsLeft ? UnsafeRawPointer(row + phase &* stride) : other + place &* strides.lhs
            let right =
              unsafe repeatsLeft ? other + place &* strides.rhs : UnsafeRawPointer(row + phase &* stride)
            unsafe kernel.fill(output + (position &+ done) &* strides.result, part, left, 1, right, 1)
            done &+= part
            phase = 0
          }
        }
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

  /// Finds the result's shape. Sizes aligned at the last axis must be equal or one; nil otherwise.
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
