// SPDX-License-Identifier: Apache-2.0
import ApusKernels
import ApusRuntime
import ApusSystem

/// Runs the steps of the plan.
extension Graph {
  /// Runs the plan. Allocates nothing once every segment is planned.
  func run(_ observer: RunObserver) throws(ApusError) {
    precondition(!segments.isEmpty, "the interpreter prepares before it runs")
    isRunning = true
    defer { isRunning = false }
    let (isWatched, isCancellable) = (observer.isWatched, observer.isCancellable)
    let ring = Trace.isOn ? Trace.ring : nil
    let callersLabel = ring?.label ?? -1
    defer { ring?.label = callersLabel }
    var current = 0
    var stepCount = 0
    while true {
      if current == segments.count {
        try planNextSegment()
      } else if !holds(segments[current].plan) {
        dropOutdatedSegments(from: current)
        try planNextSegment()
      }
      let plan = segments[current].plan
      // Results of a run that ended early are incomplete: nothing may use them.
      if current > 0, isWatched { try observer.checkSignal() }
      try observer.charge(plan.work)
      // Short segments do not read the clock, which takes as long as a small operator.
      let readsClock = isWatched && plan.isLong
      if isWatched, !readsClock { observer.ignoreClock() }
      if let delivery = plan.delivery { try deliver(delivery) }
      let table = table
      // The plan keeps the steps alive during the run, whatever a custom operator does.
      defer { withExtendedLifetime(plan) {} }
      var began = ring == nil ? 0 : monotonicNanoseconds()
      for index in unsafe plan.walk.indices {
        ring?.label = plan.label(ofStep: index)
        if readsClock {
          try observer.check(plan.clock[index])
        } else if isCancellable {
          try observer.checkSignal()
        }
        observer.begin()
        var failure: ApusError?
        unsafe plan.walk[index]._withUnsafeGuaranteedRef { step in
          do throws(ApusError) { try step.invoke(table) } catch { failure = error }
        }
        if let failure { throw failure }
        observer.end(step: stepCount + index)
        if let ring {
          began = ring.endStep(label: plan.label(ofStep: index), number: stepCount + index, from: began)
        }
      }
      // Products that ended early left their outputs incomplete.
      if plan.isLast(of: wiring.nodeCount) { return try observer.checkSignal() }
      unsafe stepCount += plan.walk.count
      current += 1
    }
  }

  /// Copies the results of a deferred operator to where later operators read them.
  private func deliver(_ delivery: SegmentPlan.Delivery) throws(ApusError) {
    let table = table
    for (position, output) in subgraph.operators[delivery.node].outputs.enumerated() {
      var bytes = table.writeBytes(at: output)
      try delivery.operation.deliver(position, into: &bytes)
    }
  }

  /// Whether everything that a segment's preparation relied on still holds.
  private func holds(_ plan: SegmentPlan) -> Bool {
    if let delivery = plan.delivery {
      let outputs = subgraph.operators[delivery.node].outputs
      let holds = outputs.indices.allSatisfy {
        delivery.operation.outputShape($0) == plan.facts[outputs[$0]].shape
      }
      guard holds else { return false }
    }
    guard plan.conditions.allSatisfy({ $0() }) else { return false }
    for (tensor, bytes) in plan.assumptions {
      let buffer = buffers[tensor]
      guard buffer.byteCount == bytes.count else { return false }
      let now = unsafe UnsafeRawBufferPointer(start: buffer.base, count: buffer.byteCount)
      guard unsafe now.elementsEqual(bytes) else { return false }
    }
    return true
  }
}
