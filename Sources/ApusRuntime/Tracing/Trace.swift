// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import Synchronization

/// The events of this process's threads, recorded between ``start(eventsPerThread:)`` and ``stop()``.
///
/// Each thread writes to a ring of its own, whose memory exists before anything is recorded: recording neither locks nor
/// allocates. While nothing is recorded, it costs one load in each operator.
@usableFromInline package enum Trace {
  @usableFromInline static let flag = Atomic(false)

  /// Whether events are recorded.
  @inlinable @inline(__always)
  package static var isOn: Bool { flag.load(ordering: .relaxed) }

  /// The most events of a thread that are kept; newer ones replace the oldest.
  package static let maximumEvents = 1 << 16
  /// The most threads whose events are kept.
  package static let maximumThreads = 96

  /// The label of a step or a file; see ``register(_:)``.
  package struct Label: Sendable {
    /// The operators of the step, or the file's name.
    package let name: String
    /// The position of the first operator in the subgraph; nil for what is no operator.
    package let index: Int?
    /// The kernel set; empty for what is no operator.
    package let kernels: String

    /// A label of a step or, with nothing but a name, of a file.
    package init(_ name: String, index: Int? = nil, kernels: String = "") {
      self.name = name
      self.index = index
      self.kernels = kernels
    }
  }

  private struct State: Sendable {
    var memory: ZeroedMemory?
    var rings: [TraceRing] = []
    var labels: [Label] = []
    var began = 0
    var key = pthread_key_t()
  }

  private static let state = Mutex(State())
  /// The rings that threads have taken.
  private static let takenCount = Atomic(0)
  /// The events of threads that found no ring.
  private static let homelessCount = Atomic(0)
  /// The key of each thread's ring; valid once anything was recorded.
  private static let key = Atomic(0)

  // MARK: Recording

  /// Begins to record, without the events of earlier recordings; returns false if the system refuses the memory.
  ///
  /// Call it, as ``stop()``, while no model runs.
  package static func start(eventsPerThread: Int = maximumEvents) -> Bool {
    let isReady = state.withLock { state in
      guard makeRings(&state) else { return false }
      var capacity = 1
      while capacity * 2 <= min(max(eventsPerThread, 1), maximumEvents) { capacity *= 2 }
      for ring in state.rings { ring.reset(capacity: capacity) }
      state.labels = []
      state.began = monotonicNanoseconds()
      homelessCount.store(0, ordering: .relaxed)
      return true
    }
    guard isReady else { return false }
    // The thread that asks is the first.
    _ = ring
    flag.store(true, ordering: .releasing)
    return true
  }

  private static func makeRings(_ state: inout State) -> Bool {
    guard state.rings.isEmpty else { return true }
    let words = TraceRing.headWords + maximumEvents * TraceRing.eventWords
    let ringByteCount = words * MemoryLayout<Int>.size
    guard let memory = ZeroedMemory(ifAvailable: maximumThreads * ringByteCount, isReserved: true),
      unsafe pthread_key_create(&state.key, nil) == 0
    else { return false }
    state.memory = memory
    for index in 0..<maximumThreads {
      let place = unsafe (memory.base + index * ringByteCount).assumingMemoryBound(to: Int.self)
      unsafe state.rings.append(TraceRing(at: place))
    }
    key.store(Int(state.key), ordering: .releasing)
    return true
  }

  /// Ends the recording; what was recorded stays until the next one.
  package static func stop() { flag.store(false, ordering: .releasing) }

  /// Registers names; returns the label of the first, the others follow. Allocates, so it has no place in a run.
  package static func register(_ labels: [Label]) -> Int32 {
    state.withLock { state in
      let first = state.labels.count
      state.labels += labels
      return Int32(truncatingIfNeeded: first)
    }
  }

  /// The ring of this thread; nil if nothing was recorded yet, or there are too many threads.
  package static var ring: TraceRing? {
    let key = pthread_key_t(key.load(ordering: .acquiring))
    if let known = unsafe TraceRing(address: pthread_getspecific(key)) { return known }
    return claim(key)
  }

  @inline(never)
  private static func claim(_ key: pthread_key_t) -> TraceRing? {
    let index = takenCount.wrappingAdd(1, ordering: .relaxed).oldValue
    guard index < maximumThreads, let ring = state.withLock({ $0.rings.isEmpty ? nil : $0.rings[index] })
    else {
      homelessCount.wrappingAdd(1, ordering: .relaxed)
      return nil
    }
    unsafe pthread_setspecific(key, ring.address)
    return ring
  }

  /// The time, for ``record(_:since:label:)``; 0 if nothing is recorded.
  package static var now: Int { isOn ? monotonicNanoseconds() : 0 }

  /// Records what began at a time of ``now`` and ends now; returns the end, or 0 if nothing is recorded.
  @discardableResult
  package static func record(_ kind: TraceEvent.Kind, since start: Int, label: Int32 = -1) -> Int {
    guard start != 0, isOn, let ring else { return 0 }
    let end = monotonicNanoseconds()
    ring.append(kind, label: label, from: start, to: end)
    return end
  }

  // MARK: Reading

  /// The events of a thread.
  package struct ThreadEvents: Sendable {
    /// The thread's number, from 1.
    package let number: Int
    /// The thread's name.
    package let name: String
    /// Its events, in the order in which they ended.
    package let events: [TraceEvent]
  }

  /// All that was recorded.
  package struct Recording: Sendable {
    /// The threads that recorded anything.
    package let threads: [ThreadEvents]
    /// The registered names.
    package let labels: [Label]
    /// When the recording began.
    package let began: Int
    /// How many events newer ones replaced, or had no ring.
    package let lostCount: Int
  }

  /// The recorded events; read them after ``stop()``, when no model runs.
  package static var recording: Recording {
    state.withLock { state in
      var threads: [ThreadEvents] = []
      var lostCount = homelessCount.load(ordering: .relaxed)
      for (index, ring) in state.rings.prefix(takenCount.load(ordering: .acquiring)).enumerated() {
        lostCount += ring.writtenCount - ring.keptCount
        let events = ring.events
        guard !events.isEmpty else { continue }
        let name = ring.worker.map { "worker \($0)" } ?? (index == 0 ? "main" : "thread \(index)")
        threads.append(ThreadEvents(number: index + 1, name: name, events: events))
      }
      return Recording(threads: threads, labels: state.labels, began: state.began, lostCount: lostCount)
    }
  }
}
