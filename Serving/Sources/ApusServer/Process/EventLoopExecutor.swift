// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOPosix

/// Runs tasks on event loops: what a connection's loop wakes goes on there, without a change of threads.
///
/// Nothing that blocks may run in such a task: models, pictures and files have threads of their own.
final class EventLoopExecutor: TaskExecutor {
  private let group: any EventLoopGroup

  /// Makes an executor whose tasks go to a loop of a group when they are woken from elsewhere.
  init(_ group: any EventLoopGroup) { self.group = group }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let loop = MultiThreadedEventLoopGroup.currentEventLoop ?? group.next()
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Waits for what another thread answers, and goes on with the loop that waits, so that the answer need not change
  /// loops once more.
  static func returning<Value, Failure>(
    _ operation: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return try await operation() }
    return try await withTaskExecutorPreference(EventLoopExecutor(loop), operation: operation)
  }
}
