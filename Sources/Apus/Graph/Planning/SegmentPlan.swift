// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusRuntime

/// The plan of some consecutive operators: steps in order, and the layout of tensors. Immutable.
///
/// A segment ends before an operator whose preparation needs a value that only a run computes, and after one
/// whose output shapes only a run decides. The next segment is planned when the values are known, and kept as
/// long as they stay equal.
@safe final class SegmentPlan {
  /// Its position among the segments of its subgraph.
  let index: Int
  /// The operators of the file that it covers.
  let nodes: Range<Int>
  /// The steps, in order.
  let steps: [Step]
  /// The steps, without reference counting, which would take a few percent of a small model's time.
  let walk: [Unmanaged<Step>]
  /// The estimated duration on one thread.
  let nanoseconds: Int
  /// The facts about each tensor at its end.
  let facts: [TensorFacts]
  /// The layout of its tensors and scratch memory, in its own block.
  let layout: Layout
  /// The constants that its steps, or the caller, read during or after runs, by tensor.
  let pinned: [PlacedConstant]
  /// The size of each piece of scratch memory, earlier segments included, in bytes.
  let scratchByteCounts: [Int]
  /// The values that its preparation read.
  let assumptions: [(tensor: Int, bytes: [UInt8])]
  /// Other conditions that its preparation relied on.
  let conditions: [() -> Bool]
  /// Its last operator, if that is deferred.
  let deferred: (any DeferredOperator)?
  /// The deferred operator for whose outputs this empty segment has memory.
  let delivery: Delivery?
  /// The size of the memory that it keeps beside its block, in bytes.
  let heldByteCount: Int
  /// The estimated work of a run, without that of called subgraphs.
  let work: Int
  /// Whether a run may take long enough to check the time limit.
  let isLong: Bool
  /// Whether the clock is read at each step.
  let clock: [ClockUse]
  /// The name of its first step in a trace; negative if it was planned while nothing was recorded.
  private var firstLabel: Int32 = -1
  /// The tensors whose values exist after it has run; set by the checker, for the next segment.
  let present: PresentTensors

  /// Whether a step of a long run reads the clock. Reading it takes as long as running a small operator.
  enum ClockUse {
    /// The clock is not read.
    case ignored
    /// The clock is read before the step.
    case read
    /// The clock is read before the step and during it, because the step may be long.
    case watched
  }

  /// The work from which on a step reads the clock while it runs: some ten microseconds of products.
  private static let watchedWork = 1 << 20

  /// A deferred operator and its position.
  struct Delivery {
    let operation: any DeferredOperator
    let node: Int
  }

  init(
    index: Int, nodes: Range<Int>, steps: [Step], facts: [TensorFacts], layout: Layout,
    pinned: [PlacedConstant], scratchByteCounts: [Int],
    assumptions: [(tensor: Int, bytes: [UInt8])] = [], conditions: [() -> Bool] = [],
    deferred: (any DeferredOperator)? = nil, delivery: Delivery? = nil, heldByteCount: Int,
    checkedWith checker: PlanChecker
  ) throws(ApusError) {
    self.index = index
    self.nodes = nodes
    self.steps = steps
    unsafe walk = unsafe steps.map { unsafe .passUnretained($0) }
    var (work, nanoseconds) = (1, 0)
    var (clock, workSinceClock, allWork): ([ClockUse], Int, Int) = ([], 0, 0)
    clock.reserveCapacity(steps.count)
    for step in steps {
      let (elements, emptyExtent) = step.elementCount(facts)
      work = work.addingClamped(step.multiplyAccumulates.addingClamped(1)).addingClamped(elements)
      let own = step.work.addingClamped(1).addingClamped(elements).addingClamped(emptyExtent)
      allWork = allWork.addingClamped(own)
      workSinceClock = workSinceClock.addingClamped(own)
      let isWatched = own > Self.watchedWork || step.isForeign
      clock.append(isWatched ? .watched : workSinceClock > RunLimits.clockWork ? .read : .ignored)
      if clock.last != .ignored { workSinceClock = 0 }
      // Bytes are multiplied four times as fast as floats, and moved at least twice as fast.
      let areBytes = step.writes.first.map { checker.wiring.types[$0].isByte } ?? false
      nanoseconds &+= ThreadPolicy.nanoseconds(
        multiplyAccumulates: step.multiplyAccumulates >> (areBytes ? 2 : 0),
        elements: elements >> (areBytes ? 1 : 0))
    }
    self.work = work
    self.clock = clock
    isLong = allWork > RunLimits.clockWork || steps.contains { $0.isForeign }
    self.nanoseconds = nanoseconds
    self.facts = facts
    self.layout = layout
    self.pinned = pinned
    self.scratchByteCounts = scratchByteCounts
    self.assumptions = assumptions
    self.conditions = conditions
    self.deferred = deferred
    self.delivery = delivery
    self.heldByteCount = heldByteCount
    present = try checker.check(
      .init(
        nodes: nodes, steps: steps, facts: facts, layout: layout, pinned: pinned.map { $0.tensor },
        scratchByteCounts: scratchByteCounts, isDeferred: deferred != nil, delivered: delivery?.node))
  }

  /// Names its steps in the trace that is being recorded.
  func registerSteps(of model: Model, _ subgraph: SubgraphEntry) {
    firstLabel = Trace.register(
      steps.map { step in
        let names = step.nodes.map { model.file.operatorCodes[subgraph.operators[$0].operatorCode].name }
        return Trace.Label(
          names.joined(separator: " + "), index: step.nodes.first,
          kernels: step.operation.implementation.choice.set)
      })
  }

  /// The name of a step in a trace; negative for none.
  func label(ofStep index: Int) -> Int32 {
    firstLabel < 0 ? -1 : firstLabel &+ Int32(truncatingIfNeeded: index)
  }

  /// Whether it is the last segment of a subgraph with this many operators.
  func isLast(of nodeCount: Int) -> Bool { nodes.upperBound == nodeCount && deferred == nil }
}

extension ElementType {
  /// Whether it is one of the quantized types whose elements are bytes.
  fileprivate var isByte: Bool { self == .int8 || self == .uint8 }
}

/// The layout of tensors in one block of memory.
struct Layout {
  /// The range of bytes of a tensor, or of a piece of scratch memory.
  struct Place {
    /// The index in the table of tensors.
    let tensor: Int
    /// Bytes from the block's start; a multiple of 64.
    let offset: Int
    let byteCount: Int
    /// The live range: the first and the last operator during which the memory is held.
    let lifetime: ClosedRange<Int>

    /// The end of its bytes.
    var end: Int { offset + byteCount }
  }

  /// A tensor that shares the bytes of another.
  struct View {
    let tensor: Int
    let root: Int
  }

  var places: [Place] = []
  /// Views, with their roots.
  var views: [View] = []
  /// The size of the block, in bytes.
  var byteCount = 0
}
