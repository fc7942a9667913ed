// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import Synchronization

/// The process's worker threads: started when first needed, never stopped, used by one run at a time.
@safe final class ThreadPool: @unchecked Sendable {
  static let shared = ThreadPool()

  private let isBusy = Atomic<Bool>(false)
  private let shares = TileShares()
  private let workers: [Worker]

  // The current run: written by the owner of `isBusy` while no worker is posted or at work.
  private var work: (any TileWork.Type)?
  private var address: UnsafeRawPointer?
  private var signal: Unmanaged<StopSignal>?
  private var shareCount = 0
  /// The name of the work for a trace.
  private var label: Int32 = -1
  private var startedCount = 0
  private var mayStart = true

  private init() {
    workers = (1..<ThreadTeam.maximumCount).map { Worker(number: $0) }
  }

  /// Runs all tiles on up to `threads` threads, the calling one included; returns false and does nothing if
  /// the pool is in use.
  ///
  /// - Parameter wakes: whether to wake sleeping threads; otherwise they do not take part.
  func run(
    _ work: any TileWork.Type, at address: UnsafeRawPointer, tiles: Int, threads: Int, wakes: Bool,
    signal: Unmanaged<StopSignal>?
  ) -> Bool {
    guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return false
    }
    startThreads(threads - 1)
    self.work = work
    unsafe self.address = address
    unsafe self.signal = signal
    let helperCount = min(threads - 1, startedCount)
    shareCount = helperCount + 1
    shares.deal(tiles: tiles, to: shareCount)
    if Trace.isOn { label = Trace.ring?.label ?? -1 }
    for index in 0..<helperCount where !workers[index].post() && wakes { workers[index].wake() }
    runTiles(worker: 0)
    let joining = Trace.now
    for index in 0..<helperCount { workers[index].revokeOrWait() }
    Trace.record(.join, since: joining)
    unsafe self.address = nil
    unsafe self.signal = nil
    isBusy.store(false, ordering: .releasing)
    return true
  }

  /// Starts or wakes the workers for a run on up to `threads` threads; does nothing if the pool is in use.
  func wake(threads: Int) {
    guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return
    }
    startThreads(threads - 1)
    for index in 0..<min(threads - 1, startedCount) { workers[index].wake() }
    isBusy.store(false, ordering: .releasing)
  }

  /// Runs the tiles of this worker's share, then the rest of the others' shares.
  private func runTiles(worker: Int) {
    guard let work = self.work, let address = unsafe self.address else { return }
    if Trace.isOn, let ring = Trace.ring {
      return unsafe runTiles(of: work, at: address, worker: worker, recordedIn: ring)
    }
    while !mustStop, let tile = shares.takeFirst(of: worker) {
      unsafe work.run(at: address, tile: tile, worker: worker)
    }
    for distance in 1..<max(shareCount, 1) {
      let other = (worker + distance) % shareCount
      while !mustStop, let tile = shares.takeLast(of: other) {
        unsafe work.run(at: address, tile: tile, worker: worker)
      }
    }
  }

  /// Runs the same tiles, and records them.
  @inline(never)
  private func runTiles(
    of work: any TileWork.Type, at address: UnsafeRawPointer, worker: Int, recordedIn ring: TraceRing
  ) {
    let began = monotonicNanoseconds()
    var traced = TracedTiles(ring, label: label)
    while !mustStop, let tile = shares.takeFirst(of: worker) {
      unsafe work.run(at: address, tile: tile, worker: worker)
      traced.add(tile)
    }
    for distance in 1..<max(shareCount, 1) {
      let other = (worker + distance) % shareCount
      while !mustStop, let tile = shares.takeLast(of: other) {
        unsafe work.run(at: address, tile: tile, worker: worker)
        traced.add(tile)
      }
    }
    traced.end()
    if worker > 0 { ring.append(.share, label: label, from: began, to: monotonicNanoseconds()) }
  }

  /// Whether to skip the remaining tiles.
  private var mustStop: Bool {
    guard let signal = unsafe self.signal else { return false }
    return unsafe signal._withUnsafeGuaranteedRef { $0.mustStop }
  }

  private func startThreads(_ count: Int) {
    while startedCount < count, mayStart {
      if workers[startedCount].start(serving: self) {
        startedCount += 1
      } else {
        mayStart = false
      }
    }
  }

  /// The main loop of a worker thread.
  fileprivate func serve(_ worker: Worker) {
    while true {
      let waiting = Trace.now
      worker.waitForWork()
      if Trace.isOn {
        Trace.ring?.worker = worker.number
        Trace.record(.idle, since: waiting)
      }
      runTiles(worker: worker.number)
      worker.finish()
    }
  }
}

/// One thread of the pool and the atomic state by which it is called.
@safe private final class Worker: @unchecked Sendable {
  private static let idle = 0
  private static let posted = 1
  private static let working = 2
  /// Some 30 to 70 µs of spinning: longer than most sequences of small operators. Three times as long would
  /// cost a seventh of the speed when other programs need the processors.
  private static let spinLimit = 60_000
  /// How often it then yields before it sleeps, half a microsecond each: longer than most sequences that run
  /// on one thread.
  private static let yieldLimit = 400
  /// The spins of the owner before it yields.
  private static let joinSpinLimit = 2_000

  let number: Int
  private let state = Atomic<Int>(Worker.idle)
  private let isAsleep = Atomic<Bool>(false)
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(number: Int) {
    self.number = number
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  /// Starts the thread, detached and with all signals blocked; false if the system refuses.
  func start(serving pool: ThreadPool) -> Bool { startDedicatedThread { pool.serve(self) } }

  /// Offers the current run to this worker; false if it sleeps, and will not notice before ``wake()``.
  func post() -> Bool {
    // Sequentially consistent with the two accesses in `sleep`: either the worker sees the post, or this
    // thread sees that it sleeps.
    state.store(Self.posted, ordering: .sequentiallyConsistent)
    return !sleeps
  }

  var sleeps: Bool { isAsleep.load(ordering: .sequentiallyConsistent) }

  /// Wakes the worker, which then looks for work for a while even if the offer was withdrawn.
  func wake() {
    guard sleeps else { return }
    unsafe pthread_mutex_lock(mutex)
    isAsleep.store(false, ordering: .sequentiallyConsistent)
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Withdraws an offer that was not accepted, so that a late worker delays no run; otherwise waits until the
  /// worker is done.
  func revokeOrWait() {
    let withdrawal = state.compareExchange(expected: Self.posted, desired: Self.idle, ordering: .acquiring)
    if withdrawal.exchanged { return }
    var spins = 0
    while state.load(ordering: .acquiring) != Self.idle {
      spins += 1
      if spins > Self.joinSpinLimit { sched_yield() }
    }
  }

  /// Returns when this worker has accepted an offer.
  func waitForWork() {
    var spins = 0
    while true {
      if state.load(ordering: .relaxed) == Self.posted {
        let taken = state.compareExchange(expected: Self.posted, desired: Self.working, ordering: .acquiring)
        if taken.exchanged { return }
      }
      spins += 1
      if spins >= Self.spinLimit {
        if spins < Self.spinLimit + Self.yieldLimit {
          sched_yield()
          continue
        }
        sleep()
        spins = 0
      }
    }
  }

  /// Tells the owner of the run that this worker is done.
  func finish() {
    state.store(Self.idle, ordering: .releasing)
  }

  /// Sleeps until ``wake()``, unless there is an offer.
  private func sleep() {
    unsafe pthread_mutex_lock(mutex)
    isAsleep.store(true, ordering: .sequentiallyConsistent)
    if state.load(ordering: .sequentiallyConsistent) == Self.posted {
      isAsleep.store(false, ordering: .sequentiallyConsistent)
    }
    while sleeps { unsafe pthread_cond_wait(condition, mutex) }
    unsafe pthread_mutex_unlock(mutex)
  }
}
