// SPDX-License-Identifier: Apache-2.0

/// A call on a handle: its failure is reported and becomes the API's value for errors.
func call<T: HandleObject, R>(
  _ pointer: OpaquePointer?, _ type: T.Type, failure: R, reporter: (T) -> ErrorReporter = { _ in .standard },
  _ body: (T) throws(Refusal) -> R
) -> R {
  do throws(Refusal) {
    let object = try HandleTable.shared.object(pointer, type)
    do throws(Refusal) { return try body(object) } catch { reporter(object).report(error.message) }
  } catch { ErrorReporter.standard.report(error.message) }
  return failure
}

/// A call on an interpreter that no other thread may make meanwhile.
func onInterpreter<R>(
  _ pointer: OpaquePointer?, failure: R, _ body: (InterpreterHandle) throws(Refusal) -> R
) -> R {
  call(pointer, InterpreterHandle.self, failure: failure, reporter: \.reporter) { handle throws(Refusal) in
    try handle.exclusion.run { () throws(Refusal) in try body(handle) }
  }
}

/// A call on an interpreter that returns a status.
func statusOnInterpreter(
  _ pointer: OpaquePointer?, _ body: (InterpreterHandle) throws(Refusal) -> Void
) -> Int32 {
  onInterpreter(pointer, failure: Status.error) { handle throws(Refusal) in
    try status(handle.reporter) { () throws(Refusal) in try body(handle) }
  }
}

/// A call on a runner that no other thread may make meanwhile.
func onRunner<R>(
  _ pointer: OpaquePointer?, failure: R, _ body: (RunnerHandle) throws(Refusal) -> R
) -> R {
  call(pointer, RunnerHandle.self, failure: failure, reporter: \.interpreter.reporter) {
    runner throws(Refusal) in
    try runner.interpreter.exclusion.run { () throws(Refusal) in try body(runner) }
  }
}

/// A call on a runner that returns a status.
func statusOnRunner(_ pointer: OpaquePointer?, _ body: (RunnerHandle) throws(Refusal) -> Void) -> Int32 {
  onRunner(pointer, failure: Status.error) { runner throws(Refusal) in
    try status(runner.interpreter.reporter) { () throws(Refusal) in try body(runner) }
  }
}

/// A call on a tensor that no other thread may make meanwhile.
func onTensor<R>(
  _ pointer: UnsafeRawPointer?, failure: R, _ body: (TensorRecord) throws(Refusal) -> R
) -> R {
  call(pointer.map(OpaquePointer.init), TensorRecord.self, failure: failure, reporter: \.reporter) {
    tensor throws(Refusal) in
    try tensor.exclusion.run { () throws(Refusal) in try body(tensor) }
  }
}

/// The status of a function that may fail; its failure is reported.
func status(
  _ reporter: ErrorReporter, _ body: () throws(Refusal) -> Void
) throws(Refusal) -> Int32 {
  do throws(Refusal) {
    try body()
    return Status.ok
  } catch {
    reporter.report(error.message)
    return error.status
  }
}

/// A change of options.
func change(_ pointer: OpaquePointer?, _ body: (inout InterpreterOptions) -> Void) {
  call(pointer, OptionsHandle.self, failure: ()) { handle in handle.values.withLock { body(&$0) } }
}
