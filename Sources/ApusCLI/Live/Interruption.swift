// SPDX-License-Identifier: Apache-2.0
import ApusSystem
import Dispatch

/// Calls a function when the user presses Ctrl-C or closes the terminal, or the system asks the process to end, in place of ending it at
/// once. A second time, the process ends.
final class Interruption {
  private let sources: [any DispatchSourceSignal]

  init(_ body: @escaping @Sendable () -> Void) {
    // One that is started with nohup outlives its terminal.
    let signals = [SIGINT, SIGTERM] + (ignoresSignal(SIGHUP) ? [] : [SIGHUP])
    sources = signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        signal(number, SIG_DFL)
        body()
      }
      source.resume()
      return source
    }
  }

  deinit { for source in sources { source.cancel() } }
}
