// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// How many pixels may be in memory at the same time; whoever wants more waits, in the order of asking.
final class PixelBudget: Sendable {
  private struct State {
    var inFlight = 0
    var waiting: [(pixels: Int, semaphore: DispatchSemaphore)] = []
  }

  private let limit: Int
  private let state = Mutex(State())

  /// 256 megapixels, unless told otherwise.
  init(limit: Int = 256_000_000) {
    self.limit = limit
  }

  /// Waits until this many pixels fit. More than the limit go alone.
  func take(_ pixels: Int) {
    let semaphore: DispatchSemaphore? = state.withLock { state in
      if state.waiting.isEmpty, fits(pixels, state) {
        state.inFlight += pixels
        return nil
      }
      let semaphore = DispatchSemaphore(value: 0)
      state.waiting.append((pixels, semaphore))
      return semaphore
    }
    semaphore?.wait()
  }

  /// Gives pixels back, and lets those go on who fit now.
  func give(_ pixels: Int) {
    state.withLock { state in
      state.inFlight -= pixels
      while let next = state.waiting.first, fits(next.pixels, state) {
        state.inFlight += next.pixels
        state.waiting.removeFirst()
        next.semaphore.signal()
      }
    }
  }

  private func fits(_ pixels: Int, _ state: State) -> Bool {
    state.inFlight == 0 || pixels <= limit - state.inFlight
  }
}
