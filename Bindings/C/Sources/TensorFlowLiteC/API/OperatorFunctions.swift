// SPDX-License-Identifier: Apache-2.0

@c(TfLiteOperatorCreate)
public func operatorCreate(
  _ builtinCode: Int32, _ name: UnsafePointer<CChar>?, _ version: Int32, _ userData: UnsafeMutableRawPointer?
) -> OpaquePointer? {
  HandleTable.shared.add(
    OperatorHandle(builtinCode: builtinCode, name: name, version: version, userData: userData))
}

@c(TfLiteOperatorCreateWithData)
public func operatorCreateWithData(
  _ builtinCode: Int32, _ name: UnsafePointer<CChar>?, _ version: Int32, _ userData: UnsafeMutableRawPointer?
) -> OpaquePointer? { operatorCreate(builtinCode, name, version, userData) }

@c(TfLiteOperatorDelete)
public func operatorDelete(_ registration: OpaquePointer?) {
  HandleTable.shared.delete(registration, OperatorHandle.self)
}

@c(TfLiteOperatorGetBuiltInCode)
public func operatorBuiltinCode(_ registration: OpaquePointer?) -> Int32 {
  call(registration, OperatorHandle.self, failure: -1) { $0.builtinCode }
}

@c(TfLiteOperatorGetCustomName)
public func operatorName(_ registration: OpaquePointer?) -> UnsafePointer<CChar>? {
  call(registration, OperatorHandle.self, failure: nil) { $0.clientName }
}

@c(TfLiteOperatorGetVersion)
public func operatorVersion(_ registration: OpaquePointer?) -> Int32 {
  call(registration, OperatorHandle.self, failure: -1) { $0.version }
}

@c(TfLiteOperatorGetUserData)
public func operatorUserData(_ registration: OpaquePointer?) -> UnsafeMutableRawPointer? {
  call(registration, OperatorHandle.self, failure: nil) { $0.userData }
}

private func set(
  _ registration: OpaquePointer?, _ change: (inout OperatorHandle.Functions) -> Void
) -> Int32 {
  call(registration, OperatorHandle.self, failure: Status.error) { handle in
    handle.functions.withLock { change(&$0) }
    return Status.ok
  }
}

@c(TfLiteOperatorSetInit)
public func operatorSetInit(
  _ registration: OpaquePointer?,
  _ function:
    (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) -> UnsafeMutableRawPointer?)?
) { _ = set(registration) { $0.initializePlain = function } }

@c(TfLiteOperatorSetInitWithData)
public func operatorSetInitWithData(
  _ registration: OpaquePointer?,
  _ function:
    (
      @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) ->
        UnsafeMutableRawPointer?
    )?
) -> Int32 { set(registration) { $0.initialize = function } }

@c(TfLiteOperatorSetFree)
public func operatorSetFree(
  _ registration: OpaquePointer?,
  _ function: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
) { _ = set(registration) { $0.freePlain = function } }

@c(TfLiteOperatorSetFreeWithData)
public func operatorSetFreeWithData(
  _ registration: OpaquePointer?,
  _ function:
    (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
) -> Int32 { set(registration) { $0.free = function } }

@c(TfLiteOperatorSetPrepare)
public func operatorSetPrepare(
  _ registration: OpaquePointer?,
  _ function: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32)?
) { _ = set(registration) { $0.preparePlain = function } }

@c(TfLiteOperatorSetPrepareWithData)
public func operatorSetPrepareWithData(
  _ registration: OpaquePointer?,
  _ function:
    (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32)?
) -> Int32 { set(registration) { $0.prepare = function } }

@c(TfLiteOperatorSetInvoke)
public func operatorSetInvoke(
  _ registration: OpaquePointer?,
  _ function: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32)?
) { _ = set(registration) { $0.invokePlain = function } }

@c(TfLiteOperatorSetInvokeWithData)
public func operatorSetInvokeWithData(
  _ registration: OpaquePointer?,
  _ function:
    (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32)?
) -> Int32 { set(registration) { $0.invoke = function } }

@c(TfLiteOperatorSetInplaceOperator)
public func operatorSetInplace(_ registration: OpaquePointer?, _ flags: UInt64) {
  // A hint for memory planning.
  _ = set(registration) { _ in }
}

// MARK: The names until TensorFlow 2.14

@c(TfLiteRegistrationExternalCreate)
public func registrationCreate(
  _ builtinCode: Int32, _ name: UnsafePointer<CChar>?, _ version: Int32
) -> OpaquePointer? { operatorCreate(builtinCode, name, version, nil) }

@c(TfLiteRegistrationExternalDelete)
public func registrationDelete(_ registration: OpaquePointer?) { operatorDelete(registration) }

@c(TfLiteRegistrationExternalGetBuiltInCode)
public func registrationBuiltinCode(_ registration: OpaquePointer?) -> Int32 {
  operatorBuiltinCode(registration)
}

@c(TfLiteRegistrationExternalGetCustomName)
public func registrationName(_ registration: OpaquePointer?) -> UnsafePointer<CChar>? {
  operatorName(registration)
}

@c(TfLiteRegistrationExternalGetVersion)
public func registrationVersion(_ registration: OpaquePointer?) -> Int32 { operatorVersion(registration) }

@c(TfLiteRegistrationExternalSetInit)
public func registrationSetInit(
  _ registration: OpaquePointer?,
  _ function:
    (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) -> UnsafeMutableRawPointer?)?
) { operatorSetInit(registration, function) }

@c(TfLiteRegistrationExternalSetFree)
public func registrationSetFree(
  _ registration: OpaquePointer?,
  _ function: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void)?
) { operatorSetFree(registration, function) }

@c(TfLiteRegistrationExternalSetPrepare)
public func registrationSetPrepare(
  _ registration: OpaquePointer?,
  _ function: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32)?
) { operatorSetPrepare(registration, function) }

@c(TfLiteRegistrationExternalSetInvoke)
public func registrationSetInvoke(
  _ registration: OpaquePointer?,
  _ function: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32)?
) { operatorSetInvoke(registration, function) }
