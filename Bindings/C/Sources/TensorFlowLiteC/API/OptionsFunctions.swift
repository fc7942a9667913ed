// SPDX-License-Identifier: Apache-2.0

@c(TfLiteInterpreterOptionsCreate)
public func optionsCreate() -> OpaquePointer? { HandleTable.shared.add(OptionsHandle()) }

@c(TfLiteInterpreterOptionsCopy)
public func optionsCopy(_ options: OpaquePointer?) -> OpaquePointer? {
  call(options, OptionsHandle.self, failure: nil) { handle in
    HandleTable.shared.add(OptionsHandle(handle.values.withLock { $0 }))
  }
}

@c(TfLiteInterpreterOptionsDelete)
public func optionsDelete(_ options: OpaquePointer?) {
  HandleTable.shared.delete(options, OptionsHandle.self)
}

@c(TfLiteInterpreterOptionsSetNumThreads)
public func optionsSetThreadCount(_ options: OpaquePointer?, _ count: Int32) {
  // -1 leaves the choice to the library; more than the engine has are as many as it has.
  change(options) { $0.threadCount = min(max(Int(count), 1), 64) }
}

@c(TfLiteInterpreterOptionsSetErrorReporter)
public func optionsSetErrorReporter(
  _ options: OpaquePointer?,
  _ reporter: (
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void
  )?,
  _ userData: UnsafeMutableRawPointer?
) {
  change(options) { $0.reporter = ErrorReporter(function: reporter, userData: userData) }
}

@c(TfLiteInterpreterOptionsEnableCancellation)
public func optionsEnableCancellation(_ options: OpaquePointer?, _ enable: Bool) -> Int32 {
  call(options, OptionsHandle.self, failure: Status.error) { handle in
    handle.values.withLock { $0.allowsCancellation = enable }
    return Status.ok
  }
}

private let delegateRefusal =
  "Apus runs models by itself and takes no delegates: leave out the call of AddDelegate"

@c(TfLiteInterpreterOptionsAddDelegate)
public func optionsAddDelegate(_ options: OpaquePointer?, _ delegate: OpaquePointer?) {
  // TensorFlow Lite ignores NULL here, and so do programs whose delegate could not be made.
  guard delegate != nil else { return }
  change(options) { $0.refusals.append(delegateRefusal) }
}

@c(TfLiteInterpreterOptionsAddOpaqueDelegate)
public func optionsAddOpaqueDelegate(_ options: OpaquePointer?, _ delegate: OpaquePointer?) {
  optionsAddDelegate(options, delegate)
}

@c(TfLiteInterpreterOptionsSetUseNNAPI)
public func optionsSetUseNNAPI(_ options: OpaquePointer?, _ enable: Bool) {
  // A preference: where there is no such device, TensorFlow Lite runs on the CPU, too.
  change(options) { _ in }
}

@c(TfLiteInterpreterOptionsSetEnableDelegateFallback)
public func optionsSetEnableDelegateFallback(_ options: OpaquePointer?, _ enable: Bool) {
  // Without delegates there is nothing to fall back from.
  change(options) { _ in }
}

@c(TfLiteInterpreterOptionsSetTelemetryProfiler)
public func optionsSetTelemetryProfiler(_ options: OpaquePointer?, _ profiler: OpaquePointer?) {
  guard profiler != nil else { return }
  change(options) { $0.reporter.report("telemetry profilers are not supported: this one is never called") }
}

/// Keeps the values of all tensors, so that clients can read them after a run: `experimental_preserve_all_tensors` of Python.
@c(ApusInterpreterOptionsSetPreserveAllTensors)
public func optionsSetPreserveAllTensors(_ options: OpaquePointer?, _ enable: Bool) {
  change(options) { $0.preservesAllTensors = enable }
}

// MARK: Operators

@c(TfLiteInterpreterOptionsAddOperator)
public func optionsAddOperator(_ options: OpaquePointer?, _ registration: OpaquePointer?) {
  call(options, OptionsHandle.self, failure: ()) { handle throws(Refusal) in
    let callbacks = try HandleTable.shared.object(registration, OperatorHandle.self).callbacks()
    handle.values.withLock { $0.add(callbacks) }
  }
}

@c(TfLiteInterpreterOptionsAddRegistrationExternal)
public func optionsAddRegistrationExternal(_ options: OpaquePointer?, _ registration: OpaquePointer?) {
  optionsAddOperator(options, registration)
}

@c(TfLiteInterpreterOptionsAddCustomOp)
public func optionsAddCustomOperator(
  _ options: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ registration: UnsafeRawPointer?,
  _ minimumVersion: Int32, _ maximumVersion: Int32
) {
  call(options, OptionsHandle.self, failure: ()) { handle throws(Refusal) in
    guard let name, let registration else {
      throw Refusal("the operator's name or its TfLiteRegistration is NULL")
    }
    let callbacks = try OperatorCallbacks(
      registration: registration, name: String(cString: name), minimumVersion, maximumVersion)
    handle.values.withLock { $0.add(callbacks) }
  }
}

@c(TfLiteInterpreterOptionsAddBuiltinOp)
public func optionsAddBuiltinOperator(
  _ options: OpaquePointer?, _ code: Int32, _ registration: UnsafeRawPointer?, _ minimumVersion: Int32,
  _ maximumVersion: Int32
) {
  change(options) {
    $0.refusals.append(
      "the operator with the code \(code) cannot be replaced: Apus has its own built-in operators; leave out the call of AddBuiltinOp"
    )
  }
}

extension InterpreterOptions {
  /// Adds an operator of the client's.
  fileprivate mutating func add(_ callbacks: OperatorCallbacks) {
    if callbacks.builtinCode == OperatorCallbacks.customCode {
      operators.append(callbacks)
    } else {
      refusals.append(
        "the operator with the code \(callbacks.builtinCode) cannot be replaced: Apus has its own built-in operators"
      )
    }
  }
}

@c(TfLiteInterpreterOptionsSetOpResolver)
public func optionsSetResolver(
  _ options: OpaquePointer?,
  _ findBuiltin: FindBuiltinFunction?, _ findCustom: FindCustomFunction?,
  _ userData: UnsafeMutableRawPointer?
) {
  change(options) {
    $0.resolver = OperatorResolver(findBuiltin: findBuiltin, findCustom: findCustom, userData: userData)
  }
}

@c(TfLiteInterpreterOptionsSetOpResolverV1)
public func optionsSetResolverV1(
  _ options: OpaquePointer?,
  _ findBuiltin: FindBuiltinFunction?, _ findCustom: FindCustomFunction?,
  _ userData: UnsafeMutableRawPointer?
) { optionsSetResolver(options, findBuiltin, findCustom, userData) }

@c(TfLiteInterpreterOptionsSetOpResolverV2)
public func optionsSetResolverV2(
  _ options: OpaquePointer?,
  _ findBuiltin: FindBuiltinFunction?, _ findCustom: FindCustomFunction?,
  _ userData: UnsafeMutableRawPointer?
) { optionsSetResolver(options, findBuiltin, findCustom, userData) }

@c(TfLiteInterpreterOptionsSetOpResolverV3)
public func optionsSetResolverV3(
  _ options: OpaquePointer?,
  _ findBuiltin: FindBuiltinFunction?, _ findCustom: FindCustomFunction?,
  _ userData: UnsafeMutableRawPointer?
) { optionsSetResolver(options, findBuiltin, findCustom, userData) }

@c(TfLiteInterpreterOptionsSetOpResolverExternal)
public func optionsSetResolverExternal(
  _ options: OpaquePointer?,
  _ findBuiltin: FindBuiltinFunction?, _ findCustom: FindCustomFunction?,
  _ userData: UnsafeMutableRawPointer?
) {
  change(options) {
    $0.resolver = OperatorResolver(
      findBuiltin: findBuiltin, findCustom: findCustom, userData: userData, findsHandles: true)
  }
}

@c(TfLiteInterpreterOptionsSetOpResolverExternalWithFallback)
public func optionsSetResolverExternalWithFallback(
  _ options: OpaquePointer?,
  _ findBuiltinHandle: FindBuiltinFunction?, _ findCustomHandle: FindCustomFunction?,
  _ findBuiltin: FindBuiltinFunction?, _ findCustom: FindCustomFunction?,
  _ userData: UnsafeMutableRawPointer?
) {
  change(options) {
    $0.resolver = OperatorResolver(
      findBuiltin: findBuiltinHandle, findCustom: findCustomHandle, userData: userData, findsHandles: true,
      fallback: OperatorResolver.Functions(findBuiltin: findBuiltin, findCustom: findCustom))
  }
}
