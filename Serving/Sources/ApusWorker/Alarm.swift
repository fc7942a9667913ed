// SPDX-License-Identifier: Apache-2.0
import Apus
import Dispatch
import Synchronization

/// Cancels what takes too long: one timer for the process, however many pictures there are.
final class Alarm {
  /// The work that is limited now.
  private final class Watched: Sendable {
    private let state = Mutex<(cancellation: Cancellation, end: DispatchTime)?>(nil)

    func set(_ cancellation: Cancellation?, end: DispatchTime) {
      state.withLock { $0 = cancellation.map { ($0, end) } }
    }

    /// The timer of the work before may ring late.
    func ring() {
      state.withLock { if let work = $0, work.end <= .now() { work.cancellation.cancel() } }
    }
  }

  private let watched = Watched()
  private let timer = DispatchSource.makeTimerSource(queue: .global())
  private let limit: Double

  /// - Parameter limit: How long each may take, in seconds.
  init(after limit: Double) {
    self.limit = limit
    timer.setEventHandler { [watched] in watched.ring() }
    timer.schedule(deadline: .distantFuture)
    timer.resume()
  }

  deinit { timer.cancel() }

  /// Cancels `cancellation` once the time is over, unless `body` returns before.
  func limiting<Value>(_ cancellation: Cancellation, _ body: () -> Value) -> Value {
    let end = DispatchTime.now() + limit
    watched.set(cancellation, end: end)
    timer.schedule(deadline: end)
    defer { watched.set(nil, end: end) }
    return body()
  }
}
