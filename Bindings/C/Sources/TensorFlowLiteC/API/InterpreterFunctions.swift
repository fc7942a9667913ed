// SPDX-License-Identifier: Apache-2.0

import Apus

@c(TfLiteInterpreterCreate)
public func interpreterCreate(_ model: OpaquePointer?, _ options: OpaquePointer?) -> OpaquePointer? {
  var values = InterpreterOptions()
  do throws(Refusal) {
    if options != nil {
      values = try HandleTable.shared.object(options, OptionsHandle.self).values.withLock { $0 }
    }
    let model = try HandleTable.shared.object(model, ModelHandle.self).model
    return HandleTable.shared.add(try InterpreterHandle(model, values))
  } catch {
    values.reporter.report(error.message)
    return nil
  }
}

@c(TfLiteInterpreterCreateWithSelectedOps)
public func interpreterCreateWithSelectedOperators(
  _ model: OpaquePointer?, _ options: OpaquePointer?
) -> OpaquePointer? { interpreterCreate(model, options) }

@c(TfLiteInterpreterDelete)
public func interpreterDelete(_ interpreter: OpaquePointer?) {
  HandleTable.shared.delete(interpreter, InterpreterHandle.self)
}

@c(TfLiteInterpreterGetInputTensorCount)
public func interpreterInputCount(_ interpreter: OpaquePointer?) -> Int32 {
  onInterpreter(interpreter, failure: 0) { Int32(clamping: $0.inputIndices.count) }
}

@c(TfLiteInterpreterGetOutputTensorCount)
public func interpreterOutputCount(_ interpreter: OpaquePointer?) -> Int32 {
  onInterpreter(interpreter, failure: 0) { Int32(clamping: $0.outputIndices.count) }
}

@c(TfLiteInterpreterInputTensorIndices)
public func interpreterInputIndices(_ interpreter: OpaquePointer?) -> UnsafePointer<Int32>? {
  onInterpreter(interpreter, failure: nil) { UnsafePointer($0.inputIndices.first) }
}

@c(TfLiteInterpreterOutputTensorIndices)
public func interpreterOutputIndices(_ interpreter: OpaquePointer?) -> UnsafePointer<Int32>? {
  onInterpreter(interpreter, failure: nil) { UnsafePointer($0.outputIndices.first) }
}

@c(TfLiteInterpreterGetInputTensorIndex)
public func interpreterInputIndex(_ interpreter: OpaquePointer?, _ position: Int32) -> Int32 {
  onInterpreter(interpreter, failure: -1) { handle throws(Refusal) in
    Int32(clamping: try handle.main.input(Int(position)).tensor.index)
  }
}

@c(TfLiteInterpreterGetOutputTensorIndex)
public func interpreterOutputIndex(_ interpreter: OpaquePointer?, _ position: Int32) -> Int32 {
  onInterpreter(interpreter, failure: -1) { handle throws(Refusal) in
    Int32(clamping: try handle.main.output(Int(position)).tensor.index)
  }
}

@c(TfLiteInterpreterGetInputTensor)
public func interpreterInput(_ interpreter: OpaquePointer?, _ position: Int32) -> UnsafeMutableRawPointer? {
  onInterpreter(interpreter, failure: nil) { handle throws(Refusal) in
    try handle.main.input(Int(position)).structure
  }
}

@c(TfLiteInterpreterGetOutputTensor)
public func interpreterOutput(_ interpreter: OpaquePointer?, _ position: Int32) -> UnsafeRawPointer? {
  onInterpreter(interpreter, failure: nil) { handle throws(Refusal) in
    UnsafeRawPointer(try handle.main.output(Int(position)).structure)
  }
}

@c(TfLiteInterpreterGetTensor)
public func interpreterTensor(_ interpreter: OpaquePointer?, _ index: Int32) -> UnsafeMutableRawPointer? {
  onInterpreter(interpreter, failure: nil) { handle throws(Refusal) in
    // TensorFlow Lite says nothing here, and programs count tensors until there are no more.
    guard handle.main.tensors.indices.contains(Int(index)) else { return nil }
    return try handle.main.tensor(Int(index)).structure
  }
}

@c(TfLiteInterpreterResizeInputTensor)
public func interpreterResizeInput(
  _ interpreter: OpaquePointer?, _ position: Int32, _ dimensions: UnsafePointer<Int32>?, _ count: Int32
) -> Int32 {
  statusOnInterpreter(interpreter) { handle throws(Refusal) in
    try handle.main.resizeInput(Int(position), to: CArrays.integers(dimensions, count: count))
  }
}

@c(TfLiteInterpreterResizeInputTensorStrict)
public func interpreterResizeInputStrictly(
  _ interpreter: OpaquePointer?, _ position: Int32, _ dimensions: UnsafePointer<Int32>?, _ count: Int32
) -> Int32 {
  statusOnInterpreter(interpreter) { handle throws(Refusal) in
    try handle.main.resizeInput(
      Int(position), to: CArrays.integers(dimensions, count: count), isStrict: true)
  }
}

@c(TfLiteInterpreterAllocateTensors)
public func interpreterAllocate(_ interpreter: OpaquePointer?) -> Int32 {
  statusOnInterpreter(interpreter) { handle throws(Refusal) in try handle.main.allocate() }
}

@c(TfLiteInterpreterInvoke)
public func interpreterInvoke(_ interpreter: OpaquePointer?) -> Int32 {
  statusOnInterpreter(interpreter) { handle throws(Refusal) in try handle.invoke(handle.main) }
}

@c(TfLiteInterpreterCancel)
public func interpreterCancel(_ interpreter: OpaquePointer?) -> Int32 {
  call(interpreter, InterpreterHandle.self, failure: Status.error, reporter: \.reporter) {
    handle throws(Refusal) in
    try handle.cancel()
    return Status.ok
  }
}

@c(TfLiteInterpreterResetVariableTensors)
public func interpreterResetVariables(_ interpreter: OpaquePointer?) -> Int32 {
  statusOnInterpreter(interpreter) { $0.resetVariables() }
}

@c(TfLiteInterpreterGetVariableTensorCount)
public func interpreterVariableCount(_ interpreter: OpaquePointer?) -> Int32 {
  onInterpreter(interpreter, failure: 0) { Int32(clamping: $0.main.variableIndices.count) }
}

@c(TfLiteInterpreterGetVariableTensor)
public func interpreterVariable(
  _ interpreter: OpaquePointer?, _ position: Int32
) -> UnsafeMutableRawPointer? {
  onInterpreter(interpreter, failure: nil) { handle throws(Refusal) in
    let indices = handle.main.variableIndices
    guard indices.indices.contains(Int(position)) else {
      throw Refusal("there is no variable \(position): the model has \(indices.count)")
    }
    return try handle.main.tensor(indices[Int(position)]).structure
  }
}

@c(TfLiteInterpreterEnsureTensorDataIsReadable)
public func interpreterEnsureReadable(_ interpreter: OpaquePointer?, _ index: Int32) -> Int32 {
  statusOnInterpreter(interpreter) { handle throws(Refusal) in _ = try handle.main.tensor(Int(index)) }
}

@c(TfLiteInterpreterSetCustomAllocationForTensor)
public func interpreterSetCustomAllocation(
  _ interpreter: OpaquePointer?, _ index: Int32, _ allocation: UnsafeRawPointer?, _ flags: Int64
) -> Int32 {
  statusOnInterpreter(interpreter) { handle throws(Refusal) in
    guard let allocation else { throw Refusal("the TfLiteCustomAllocation is NULL") }
    let memory = allocation.loadUnaligned(as: UnsafeMutableRawPointer?.self)
    let byteCount = allocation.loadUnaligned(fromByteOffset: 8, as: Int.self)
    guard let memory, byteCount >= 0 else {
      throw Refusal("the memory of the TfLiteCustomAllocation is NULL")
    }
    guard flags & 1 != 0 || UInt(bitPattern: memory) % 64 == 0 else {
      throw Refusal("the memory of the TfLiteCustomAllocation is not aligned to 64 bytes")
    }
    try handle.main.lend(
      UnsafeMutableRawBufferPointer(start: memory, count: byteCount), toTensor: Int(index))
  }
}

// MARK: What the file says

/// How many subgraphs the model has.
@c(ApusInterpreterGetSubgraphCount)
public func interpreterSubgraphCount(_ interpreter: OpaquePointer?) -> Int32 {
  onInterpreter(interpreter, failure: 0) { Int32(clamping: $0.subgraphCount) }
}

/// A tensor of any subgraph; NULL, without a message, if there is none.
@c(ApusInterpreterGetSubgraphTensor)
public func interpreterSubgraphTensor(
  _ interpreter: OpaquePointer?, _ subgraph: Int32, _ index: Int32
) -> UnsafeMutableRawPointer? {
  onInterpreter(interpreter, failure: nil) { handle throws(Refusal) in
    guard (0..<handle.subgraphCount).contains(Int(subgraph)) else { return nil }
    let session = try handle.session(ofSubgraph: Int(subgraph))
    guard session.tensors.indices.contains(Int(index)) else { return nil }
    return try session.tensor(Int(index)).structure
  }
}

/// How many operators the main subgraph has.
@c(ApusInterpreterGetOperatorCount)
public func interpreterOperatorCount(_ interpreter: OpaquePointer?) -> Int32 {
  onInterpreter(interpreter, failure: 0) { handle throws(Refusal) in
    Int32(clamping: try handle.operators().count)
  }
}

/// The name of an operator of the main subgraph, and the `TfLiteIntArray` of the tensors that it reads and writes; NULL, without a
/// message, if there is none.
@c(ApusInterpreterGetOperator)
public func interpreterOperator(
  _ interpreter: OpaquePointer?, _ index: Int32, _ inputs: UnsafeMutablePointer<UnsafeRawPointer?>?,
  _ outputs: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> UnsafePointer<CChar>? {
  onInterpreter(interpreter, failure: nil) { handle throws(Refusal) in
    guard let entry = try handle.operators().entry(index) else { return nil }
    inputs?.pointee = UnsafeRawPointer(entry.inputs)
    outputs?.pointee = UnsafeRawPointer(entry.outputs)
    return entry.name
  }
}

// MARK: Delegates

private let delegateRefusal = "Apus runs models by itself and takes no delegates"

@c(TfLiteInterpreterModifyGraphWithDelegate)
public func interpreterModifyGraph(_ interpreter: OpaquePointer?, _ delegate: OpaquePointer?) -> Int32 {
  statusOnInterpreter(interpreter) { _ throws(Refusal) in throw Refusal(delegateRefusal) }
}

@c(TfLiteInterpreterSetBufferHandle)
public func interpreterSetBufferHandle(
  _ interpreter: OpaquePointer?, _ tensor: UnsafeMutableRawPointer?, _ buffer: Int32,
  _ delegate: OpaquePointer?
) -> Int32 {
  statusOnInterpreter(interpreter) { _ throws(Refusal) in throw Refusal(delegateRefusal) }
}

@c(TfLiteInterpreterGetBufferHandle)
public func interpreterBufferHandle(
  _ interpreter: OpaquePointer?, _ index: Int32, _ buffer: UnsafeMutablePointer<Int32>?,
  _ delegate: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  statusOnInterpreter(interpreter) { _ throws(Refusal) in throw Refusal(delegateRefusal) }
}

@c(TfLiteSetAllowBufferHandleOutput)
public func setAllowBufferHandleOutput(_ interpreter: OpaquePointer?, _ allow: Bool) {
  // Without delegates no output is in a delegate's buffer.
  onInterpreter(interpreter, failure: ()) { _ in }
}
