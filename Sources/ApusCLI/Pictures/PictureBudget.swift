// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The memory that files and pictures may take at the same time. Requests beyond it wait, in order.
final class PictureBudget: Sendable {
  private struct State {
    var inFlight = 0
    var waiting: [(byteCount: Int, semaphore: DispatchSemaphore)] = []
  }

  /// The bytes of all together. Whatever wants more goes alone.
  let limit: Int
  private let state = Mutex(State())

  /// 1 GiB, unless told otherwise.
  init(limit: Int = 1 << 30) {
    self.limit = limit
  }

  /// Waits until this many bytes fit.
  func take(_ byteCount: Int) {
    let semaphore: DispatchSemaphore? = state.withLock { state in
      if state.waiting.isEmpty, fits(byteCount, state) {
        state.inFlight += byteCount
        return nil
      }
      let semaphore = DispatchSemaphore(value: 0)
      state.waiting.append((byteCount, semaphore))
      return semaphore
    }
    semaphore?.wait()
  }

  /// Gives bytes back, and lets those go on who fit now.
  func give(_ byteCount: Int) {
    state.withLock { state in
      state.inFlight -= byteCount
      while let next = state.waiting.first, fits(next.byteCount, state) {
        state.inFlight += next.byteCount
        state.waiting.removeFirst()
        next.semaphore.signal()
      }
    }
  }

  private func fits(_ byteCount: Int, _ state: State) -> Bool {
    state.inFlight == 0 || byteCount <= limit - state.inFlight
  }
}
