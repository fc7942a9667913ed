// SPDX-License-Identifier: Apache-2.0

/// Runs code that blocks, such as reading from a pipe, on a thread of its own, away from Swift's pool.
///
/// The thread is detached, and all signals are blocked in it.
///
/// - Returns: False if the system refuses the thread; the code then does not run.
package func startDedicatedThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  var everySignal = sigset_t()
  var previous = sigset_t()
  unsafe sigfillset(&everySignal)
  unsafe pthread_sigmask(SIG_SETMASK, &everySignal, &previous)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
  let box = unsafe Unmanaged.passRetained(ThreadBody(body))
  #if canImport(Darwin)
    var thread: pthread_t?
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    if code == 0, let thread = unsafe thread { unsafe pthread_detach(thread) }
  #else
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    if code == 0 { pthread_detach(thread) }
  #endif
  if code != 0 { unsafe box.release() }
  return code == 0
}

/// The function that a thread runs.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}
