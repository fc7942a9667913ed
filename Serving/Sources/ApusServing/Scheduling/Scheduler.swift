// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import NIOCore
import NIOPosix
import Synchronization

/// Gives work to threads of its own: one bounded queue for each model, batches of requests that may run together,
/// and turns between models by the time that each has used.
///
/// ```
/// submit → queue of the model (priority, then arrival) → a free thread takes the model that used the least time
///        → joins waiting requests of equal shapes → runs them on an instance → answers each
/// ```
public final class Scheduler: Sendable {
  /// How work is scheduled.
  public struct Configuration: Sendable {
    /// Threads that run models, and the most instances of a model.
    public var instances = 1
    /// Threads that one run may use.
    public var threads = 1
    /// The most requests that wait for a model.
    public var maximumQueue = 256
    /// How long a request may wait for others to join it.
    public var queueDelay = Duration.zero
    /// How long a request may take, waiting included.
    public var deadline: Duration? = .seconds(60)
    /// How large pictures may be.
    public var imageLimits = ImageLimits(maximumPixelCount: 1 << 26)
    /// Gets what tasks find suspicious about models and settings, each once for a loaded model; from several threads.
    public var warn: @Sendable (TaskWarning) -> Void = { _ in }

    /// Makes the default configuration.
    public init() {}

    /// The least time that a model may take to be prepared, however soon requests must be answered.
    private static let minimumTimeLimit = Duration.seconds(60)

    /// The options of each interpreter. Cancellation ends runs; the time limit is for preparations, which know no cancellation.
    var interpreterOptions: Interpreter.Options {
      var options = Interpreter.Options()
      options.threadCount = threads
      options.timeLimit = deadline.map { max($0, Self.minimumTimeLimit) }
      return options
    }
  }

  /// How work is scheduled.
  public let configuration: Configuration

  private let state = Mutex(State())
  private let pool: NIOThreadPool
  private let timers: any EventLoop

  /// Starts the threads.
  ///
  /// - Parameter timers: The event loop that watches deadlines.
  public init(_ configuration: Configuration, timers: any EventLoop) {
    self.configuration = configuration
    self.timers = timers
    pool = NIOThreadPool(numberOfThreads: configuration.instances)
    pool.start()
    timers.scheduleRepeatedTask(initialDelay: .milliseconds(20), delay: .milliseconds(20)) {
      [weak self] task in
      guard let self else { return task.cancel() }
      self.expire()
    }
  }

  // MARK: State

  private struct State: ~Copyable {
    var queues: [ObjectIdentifier: ModelQueue] = [:]
    /// Whether new work is refused.
    var hasEnded = false
    var workers = 0
    /// The least time that a model which has had work used, so that a newcomer does not catch up on the past.
    var clock = Duration.zero
  }

  /// A batch that a thread runs.
  private struct Taken: Sendable {
    let model: ServedModel
    let jobs: [Job]
    let batch: RunningBatch
    let lent: ModelQueue.Lent?
  }

  // MARK: Models

  /// Prepares the first instance of a model, and proves how many items of different requests may share a run.
  ///
  /// - Throws: what stops the model.
  public func prepare(_ model: ServedModel) throws(ApusError) {
    let instance = instance(of: model)
    let interpreter = try instance.interpreter(for: model.inputs.map(\.defaultShape))
    let hasFixedWork = model.model.subgraphs.count == 1 && interpreter.plan.unplannedCount == 0
    model.allow(joining(of: model, interpreter.outputs))
    model.note(outputShapes: interpreter.outputs.map(\.shape.dimensions))
    let lent = ModelQueue.Lent(instance: instance)
    state.withLock { state in
      let queue = ModelQueue(model, hasFixedWork: hasFixedWork)
      queue.idle = [lent]
      queue.used = state.clock
      state.queues[ObjectIdentifier(model)] = queue
    }
  }

  private func instance(of model: ServedModel) -> ModelInstance {
    ModelInstance(
      of: model, options: configuration.interpreterOptions, imageLimits: configuration.imageLimits,
      warn: configuration.warn)
  }

  /// Whether a model can do a vision task, with the settings of the command line.
  ///
  /// The first answer for a task takes as long as preparing the model.
  public func canDo(_ kind: VisionTaskKind, _ model: ServedModel) -> Bool {
    model.canDo(kind) {
      let instance = ModelInstance(
        of: model, options: configuration.interpreterOptions, imageLimits: configuration.imageLimits)
      return (try? PreparedTask(kind, on: instance, settings: .init())) != nil
    }
  }

  /// The maximum time of all proofs for a model; larger batches are not joined.
  private static let proofTime = Duration.seconds(3)

  /// How many items may share a run: as many as are proved to have the bytes that they have alone, and whose outputs one answer might
  /// hold.
  private func joining(of model: ServedModel, _ outputs: [Tensor]) -> Joining {
    guard model.maximumBatch > 1 else {
      if model.batches { return Joining(count: 1, reason: nil) }
      return Joining(
        count: 1,
        reason: model.hasOpenLength
          ? "the only dimension of its input is a length, no batch" : "the first dimensions are not all open")
    }
    let byteCount = outputs.reduce(1) { $0 + $1.shape.elementCount * ($1.type.byteCount ?? 1) }
    let fitting = max(1, ModelInstance.maximumOutputBytes / byteCount)
    var options = configuration.interpreterOptions
    options.timeLimit = Self.proofTime
    do throws(ApusError) {
      let proved = try model.model.batching(
        upTo: min(model.maximumBatch, fitting), options: options)
      let isLarge = proved.reason == nil && fitting < model.maximumBatch
      return Joining(
        count: proved.count,
        reason: isLarge ? "the outputs of an item take \(byteCount) bytes" : proved.reason)
    } catch { return Joining(count: 1, reason: error.message) }
  }

  /// Forgets a model once what waits for it is answered.
  public func retire(_ model: ServedModel) {
    state.withLock { state in
      guard let queue = state.queues[ObjectIdentifier(model)] else { return }
      queue.isRetired = true
      Self.drop(queue, from: &state)
    }
  }

  private static func drop(_ queue: ModelQueue, from state: inout State) {
    if queue.isRetired, queue.isEmpty {
      state.queues[ObjectIdentifier(queue.model)] = nil
    }
  }

  /// How many requests wait for a model.
  public func waitingCount(of model: ServedModel) -> Int {
    state.withLock { $0.queues[ObjectIdentifier(model)]?.jobs.count ?? 0 }
  }

  // MARK: Requests

  /// Runs a checked request.
  ///
  /// - Parameter presence: Says when the client goes away; the task's cancellation does, too.
  public func infer(
    _ request: InferenceRequest, on model: ServedModel, arrival: ContinuousClock.Instant, presence: Presence?
  ) async throws(ServingError) -> InferenceAnswer {
    let limits = [configuration.deadline, request.timeout].compactMap { $0 }
    let job = Job(
      model, .tensors(request), priority: request.priority, arrival: arrival,
      deadline: limits.min().map { arrival + $0 })
    guard case .tensors(let answer) = try await run(job, presence) else {
      throw ServingError(.internalFailure, "a task was answered in place of tensors")
    }
    return answer
  }

  /// Runs a vision task.
  public func run(
    _ task: PictureTask, on model: ServedModel, arrival: ContinuousClock.Instant, presence: Presence?
  ) async throws(ServingError) -> PictureAnswer {
    let job = Job(
      model, .picture(task), priority: 2, arrival: arrival,
      deadline: configuration.deadline.map { arrival + $0 })
    guard case .picture(let answer) = try await run(job, presence) else {
      throw ServingError(.internalFailure, "tensors were answered in place of a task")
    }
    return answer
  }

  private func run(_ job: Job, _ presence: Presence?) async throws(ServingError) -> Job.Outcome {
    let gone = ServingError(.cancelled, "the client went away")
    let token = presence?.whenGone { [weak self] in self?.abandon(job, gone) }
    defer { if let token { presence?.forget(token) } }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        job.wait(continuation)
        self.enqueue(job)
      }
    } onCancel: {
      self.abandon(job, gone)
    }
    switch result {
    case .success(let outcome): return outcome
    case .failure(let error): throw error
    }
  }

  private func enqueue(_ job: Job) {
    let (error, starts, taken) = state.withLock { state -> (ServingError?, Bool, Taken?) in
      guard !state.hasEnded else { return (Self.ended, false, nil) }
      let queue = state.queues[ObjectIdentifier(job.model)] ?? Self.lateQueue(for: job.model, in: &state)
      guard queue.jobs.count < configuration.maximumQueue else {
        return (
          ServingError(
            .queueFull,
            "the queue of the model '\(job.model.name)' is full: \(queue.jobs.count) requests wait"),
          false, nil
        )
      }
      if let taken = takeBrief(job, of: queue, &state) { return (nil, false, taken) }
      if queue.isEmpty { queue.used = max(queue.used, state.clock) }
      queue.insert(job)
      return (nil, startsWorker(&state), nil)
    }
    if let error { job.finish(.failure(error)) }
    if let taken { runBrief(taken) }
    if starts { startWorker() }
  }

  /// A queue for a request that was accepted before its model was unloaded.
  private static func lateQueue(for model: ServedModel, in state: inout State) -> ModelQueue {
    let queue = ModelQueue(model, hasFixedWork: false)
    queue.isRetired = true
    state.queues[ObjectIdentifier(model)] = queue
    return queue
  }

  /// Fails a job and removes it from its queue. If it is running, its batch stops once all its jobs are abandoned.
  private func abandon(_ job: Job, _ error: ServingError) {
    job.finish(.failure(error))
    state.withLock { state in
      guard let queue = state.queues[ObjectIdentifier(job.model)] else { return }
      queue.jobs.removeAll { $0 === job }
      Self.drop(queue, from: &state)
    }
  }

  /// Answers everything whose deadline has passed.
  private func expire() {
    let now = ContinuousClock.now
    let late = state.withLock { state in
      var late: [Job] = []
      for queue in state.queues.values {
        late += queue.takeLate(now)
        Self.drop(queue, from: &state)
      }
      return late
    }
    for job in late { job.finish(.failure(Self.pastDeadline(job, now))) }
  }

  private static func pastDeadline(_ job: Job, _ now: ContinuousClock.Instant) -> ServingError {
    ServingError(
      .deadlineExceeded,
      "the deadline passed after \(Int((now - job.arrival).milliseconds)) ms")
  }

  // MARK: Threads

  /// Whether a thread is to be started; counts it.
  private func startsWorker(_ state: inout State) -> Bool {
    guard state.workers < configuration.instances else { return false }
    state.workers += 1
    return true
  }

  private func startWorker() {
    pool.submit { [self] state in
      guard case .active = state else { return }
      work()
    }
  }

  /// Runs batches until none is ready.
  private func work() {
    while let taken = take() { run(taken) }
  }

  /// The next batch, of the model that used the least time; nil if none is ready, when the thread ends.
  private func take() -> Taken? {
    let (taken, expired, watch) = state.withLock { state -> (Taken?, [Job], [(ModelQueue, Duration)]) in
      let now = ContinuousClock.now
      var expired: [Job] = []
      var watch: [(ModelQueue, Duration)] = []
      while true {
        var best: ModelQueue?
        for queue in state.queues.values where queue.running.count < configuration.instances {
          guard let wait = queue.waitingTime(now, delay: configuration.queueDelay) else { continue }
          if wait > .zero {
            if !queue.isWatched {
              queue.isWatched = true
              watch.append((queue, wait))
            }
          } else if best.map({ queue.used < $0.used }) ?? true {
            best = queue
          }
        }
        guard let best else {
          state.workers -= 1
          return (nil, expired, watch)
        }
        state.clock = max(state.clock, best.used)
        let jobs = best.nextJobs(now, &expired)
        if jobs.isEmpty { continue }
        let batch = RunningBatch(count: jobs.count)
        best.running[ObjectIdentifier(batch)] = jobs
        return (Taken(model: best.model, jobs: jobs, batch: batch, lent: best.idle.popLast()), expired, watch)
      }
    }
    let now = ContinuousClock.now
    for job in expired { job.finish(.failure(Self.pastDeadline(job, now))) }
    for (queue, wait) in watch { self.watch(queue.model, wait) }
    return taken
  }

  /// Looks at a queue again when its first request has waited long enough.
  private func watch(_ model: ServedModel, _ wait: Duration) {
    timers.scheduleTask(in: .nanoseconds(Int64(wait.wholeNanoseconds) + 1_000)) { [weak self] in
      guard let self else { return }
      let starts = self.state.withLock { state in
        guard let queue = state.queues[ObjectIdentifier(model)] else { return false }
        queue.isWatched = false
        return !queue.jobs.isEmpty && self.startsWorker(&state)
      }
      if starts { self.startWorker() }
    }
  }

  // MARK: Brief runs

  /// A request that the caller's thread runs itself: its run is brief, and nothing waits or runs.
  private func takeBrief(_ job: Job, of queue: ModelQueue, _ state: inout State) -> Taken? {
    guard
      queue.isBrief(job), state.workers == 0, !job.isDone,
      configuration.queueDelay == .zero || queue.model.joining.count <= 1,
      let lent = queue.idle.popLast()
    else { return nil }
    state.workers = 1
    queue.used = max(queue.used, state.clock)
    let batch = RunningBatch(count: 1)
    queue.running[ObjectIdentifier(batch)] = [job]
    return Taken(model: queue.model, jobs: [job], batch: batch, lent: lent)
  }

  private func runBrief(_ taken: Taken) {
    run(taken)
    let continues = state.withLock { state in
      state.workers -= 1
      return state.queues.values.contains { !$0.jobs.isEmpty } && startsWorker(&state)
    }
    if continues { startWorker() }
  }

  private func run(_ taken: Taken) {
    let start = ContinuousClock.now
    let instance = taken.lent?.instance ?? instance(of: taken.model)
    let jobs = taken.jobs.filter { $0.begin(in: taken.batch) }
    for _ in jobs.count..<taken.jobs.count { taken.batch.abandonOne() }
    if !jobs.isEmpty { Execution(taken.model, jobs, instance, taken.batch.cancellation).run(from: start) }
    let lent = ModelQueue.Lent(instance: instance)
    state.withLock { state in
      guard let queue = state.queues[ObjectIdentifier(taken.model)] else { return }
      queue.running[ObjectIdentifier(taken.batch)] = nil
      queue.note(taken.jobs, took: ContinuousClock.now - start)
      queue.idle.append(lent)
      Self.drop(queue, from: &state)
    }
  }

  // MARK: Ending

  private static let ended = ServingError(.unavailable, "the server ended before the answer")

  /// Answers everything that waits or runs with an error, stops the runs, and refuses new work from now on.
  ///
  /// - Returns: How many requests got that answer.
  @discardableResult
  public func end() -> Int {
    let left = state.withLock { state in
      state.hasEnded = true
      return state.queues.values.flatMap { $0.jobs + $0.running.values.flatMap { $0 } }
    }
    let unanswered = left.filter { !$0.isDone }
    for job in unanswered { abandon(job, Self.ended) }
    return unanswered.count
  }

  /// Answers everything that still waits with an error, stops the runs and ends the threads.
  public func stop() async {
    end()
    try? await pool.shutdownGracefully()
  }
}
