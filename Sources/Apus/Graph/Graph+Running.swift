import ApusKernels

/// The walk over the operators.
extension Graph {
  /// Walks the plan. Allocates nothing once every segment is planned.
  func run(_ observer: RunObserver) throws(ApusError) {
    precondition(isPrepared, "the interpreter prepares before it runs")
    isRunning = true
    defer { isRunning = false }
    var current = 0
    while true {
      if current == segments.count {
        try planSegment(after: current - 1)
      } else if !assumptionsHold(current) {
        dropSegments(from: current)
        try planSegment(after: current - 1)
      }
      if let delivery = segments[current].delivery { try deliver(delivery) }
      let table = table
      // Whatever an operator of the caller's does, the steps live as long as the walk.
      let steps = steps
      defer { withExtendedLifetime(steps) {} }
      let first = segments[current].steps.lowerBound
      let walk = segments[current].walk
      for index in walk.indices {
        try observer.checkCancellation()
        observer.begin()
        var failure: ApusError?
        unsafe walk[index]._withUnsafeGuaranteedRef { step in
          do throws(ApusError) { try step.invoke(table) } catch { failure = error }
        }
        if let failure { throw failure }
        observer.end(step: first + index)
      }
      if isLast(current) { return }
      current += 1
    }
  }

  /// Copies what a deferred operator computed to where the operators behind it read it.
  private func deliver(_ delivery: (operation: any DeferredOperator, node: Int)) throws(ApusError) {
    let table = table
    for (position, output) in subgraph.operators[delivery.node].outputs.enumerated() {
      var bytes = table.writeBytes(at: output)
      try delivery.operation.deliver(position, into: &bytes)
    }
  }

  private func assumptionsHold(_ index: Int) -> Bool {
    if let delivery = segments[index].delivery {
      let outputs = subgraph.operators[delivery.node].outputs
      let holds = outputs.indices.allSatisfy {
        delivery.operation.outputShape($0) == states[outputs[$0]].shape
      }
      guard holds else { return false }
    }
    guard segments[index].conditions.allSatisfy({ $0() }) else { return false }
    for (tensor, bytes) in segments[index].assumptions {
      let buffer = buffers[tensor]
      guard buffer.byteCount == bytes.count else { return false }
      let now = UnsafeRawBufferPointer(start: buffer.base, count: buffer.byteCount)
      guard now.elementsEqual(bytes) else { return false }
    }
    return true
  }
}
