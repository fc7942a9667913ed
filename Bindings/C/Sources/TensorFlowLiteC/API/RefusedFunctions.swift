// SPDX-License-Identifier: Apache-2.0

// Functions that an operator of a client's can link with and that this library refuses: an operator sees its own node alone, and there
// are no delegates and no strings. Each reports its name.

private func refuse(_ context: UnsafeRawPointer?, _ name: String) -> Int32 {
  onContext(context, failure: Status.error) { _ throws(Refusal) in throw Refusal("\(name) is not supported") }
}

private func refuseTensor<R>(_ tensor: UnsafeRawPointer?, _ value: R, _ name: String) -> R {
  onTensor(tensor, failure: value) { _ throws(Refusal) in throw Refusal("\(name) is not supported") }
}

@c(TfLiteOpaqueContextGetExecutionPlan)
public func refuseGetExecutionPlan(_ context: UnsafeRawPointer?, _ plan: UnsafeMutableRawPointer?) -> Int32 {
  refuse(context, "TfLiteOpaqueContextGetExecutionPlan")
}

@c(TfLiteOpaqueContextGetExternalContext)
public func refuseGetExternalContext(
  _ context: UnsafeRawPointer?, _ external: UnsafeMutableRawPointer?, _ type: Int32
) -> Int32 { refuse(context, "TfLiteOpaqueContextGetExternalContext") }

@c(TfLiteOpaqueContextGetNodeAndRegistration)
public func refuseGetNodeAndRegistration(
  _ context: UnsafeRawPointer?, _ index: Int32, _ node: UnsafeMutableRawPointer?,
  _ registration: UnsafeMutableRawPointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextGetNodeAndRegistration") }

@c(TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels)
public func refuseReplaceNodeSubsetsWithDelegateKernels(
  _ context: UnsafeRawPointer?, _ registration: OpaquePointer?, _ nodes: UnsafeRawPointer?,
  _ delegate: OpaquePointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels") }

@c(TfLiteOpaqueContextGetInputs)
public func refuseGetInputs(
  _ context: UnsafeRawPointer?, _ indices: UnsafeMutableRawPointer?, _ count: UnsafeMutableRawPointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextGetInputs") }

@c(TfLiteOpaqueContextGetOutputs)
public func refuseGetOutputs(
  _ context: UnsafeRawPointer?, _ indices: UnsafeMutableRawPointer?, _ count: UnsafeMutableRawPointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextGetOutputs") }

@c(TfLiteOpaqueContextGetVariables)
public func refuseGetVariables(
  _ context: UnsafeRawPointer?, _ indices: UnsafeMutableRawPointer?, _ count: UnsafeMutableRawPointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextGetVariables") }

@c(TfLiteOpaqueContextAcquireSubgraphContext)
public func refuseAcquireSubgraphContext(
  _ context: UnsafeRawPointer?, _ subgraph: Int32, _ acquired: UnsafeMutableRawPointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextAcquireSubgraphContext") }

@c(TfLiteOpaqueContextReleaseSubgraphContext)
public func refuseReleaseSubgraphContext(_ context: UnsafeRawPointer?, _ subgraph: Int32) -> Int32 {
  refuse(context, "TfLiteOpaqueContextReleaseSubgraphContext")
}

@c(TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable)
public func refuseMarkSubgraphAsDelegationSkippable(_ context: UnsafeRawPointer?, _ subgraph: Int32) -> Int32
{ refuse(context, "TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable") }

@c(TfLiteOpaqueContextGetNodeInitDataMmapInfo)
public func refuseGetNodeInitDataMmapInfo(
  _ context: UnsafeRawPointer?, _ node: UnsafeRawPointer?, _ file: UnsafeMutableRawPointer?,
  _ offset: UnsafeMutableRawPointer?, _ count: UnsafeMutableRawPointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextGetNodeInitDataMmapInfo") }

@c(TfLiteOpaqueContextGetMetadata)
public func refuseGetMetadata(
  _ context: UnsafeRawPointer?, _ name: UnsafePointer<CChar>?, _ data: UnsafeMutableRawPointer?,
  _ byteCount: UnsafeMutableRawPointer?
) -> Int32 { refuse(context, "TfLiteOpaqueContextGetMetadata") }

@c(TfLiteOpaqueContextGetNumNodes)
public func refuseGetNumNodes(_ context: UnsafeRawPointer?) -> Int {
  _ = refuse(context, "TfLiteOpaqueContextGetNumNodes")
  return 0
}

@c(TfLiteOpaqueContextGetName)
public func refuseGetName(_ context: UnsafeRawPointer?) -> UnsafePointer<CChar>? {
  _ = refuse(context, "TfLiteOpaqueContextGetName")
  return nil
}

@c(TfLiteOpaqueTensorGetString)
public func refuseGetString(
  _ tensor: UnsafeRawPointer?, _ index: Int32, _ text: UnsafeMutableRawPointer?,
  _ count: UnsafeMutableRawPointer?
) -> Int32 { refuseTensor(tensor, Status.error, "TfLiteOpaqueTensorGetString") }

@c(TfLiteOpaqueTensorWriteString)
public func refuseWriteString(
  _ tensor: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?, _ count: Int32
) -> Int32 {
  refuseTensor(tensor, Status.error, "TfLiteOpaqueTensorWriteString")
}

@c(TfLiteOpaqueTensorWriteStrings)
public func refuseWriteStrings(
  _ tensor: UnsafeMutableRawPointer?, _ texts: UnsafeRawPointer?, _ count: Int32, _ counts: UnsafeRawPointer?
) -> Int32 { refuseTensor(tensor, Status.error, "TfLiteOpaqueTensorWriteStrings") }

@c(TfLiteOperatorSetAsyncKernel)
public func refuseSetAsyncKernel(_ registration: OpaquePointer?, _ function: UnsafeRawPointer?) {
  call(registration, OperatorHandle.self, failure: ()) { _ throws(Refusal) in
    throw Refusal("TfLiteOperatorSetAsyncKernel is not supported")
  }
}

@c(TfLiteOperatorSetAsyncKernelWithData)
public func refuseSetAsyncKernelWithData(_ registration: OpaquePointer?, _ function: UnsafeRawPointer?)
  -> Int32
{
  call(registration, OperatorHandle.self, failure: Status.error) { _ throws(Refusal) in
    throw Refusal("TfLiteOperatorSetAsyncKernelWithData is not supported")
  }
}
