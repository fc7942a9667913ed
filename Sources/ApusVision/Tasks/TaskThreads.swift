// SPDX-License-Identifier: Apache-2.0
import ApusSystem
import Dispatch
import Synchronization

/// Threads for work that takes long or waits, so that no thread of Swift's own pool does: as many at once as there are
/// processors. Further work waits in order.
package final class TaskThreads: Sendable {
  private struct State {
    /// Work from `next` on has not begun.
    var work: [(@Sendable () -> Void)?] = []
    var next = 0
    var threadCount = 0
  }

  package static let shared = TaskThreads(limit: max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 2))

  private let limit: Int
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "apus.tasks", attributes: .concurrent)

  package init(limit: Int) { self.limit = limit }

  /// Runs work as soon as a thread is free; returns at once.
  package func run(_ work: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      state.work.append(work)
      guard state.threadCount < limit else { return false }
      state.threadCount += 1
      return true
    }
    if starts {
      queue.async { while let work = self.take() { work() } }
    }
  }

  /// The next work; nil if there is none, which ends a thread.
  private func take() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.next < state.work.count else {
        state.work.removeAll()
        state.next = 0
        state.threadCount -= 1
        return nil
      }
      let work = state.work[state.next]
      state.work[state.next] = nil
      state.next += 1
      // Started work is dropped once it is most of the list.
      if state.next > 64, state.next * 2 > state.work.count {
        state.work.removeFirst(state.next)
        state.next = 0
      }
      return work
    }
  }
}
