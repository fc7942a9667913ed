// SPDX-License-Identifier: Apache-2.0

import Apus

// MARK: Nodes

private func tensor(
  _ context: UnsafeRawPointer?, _ indices: CIntegers, _ position: Int32
) throws(Refusal) -> UnsafeMutableRawPointer? {
  guard (0..<indices.count).contains(Int(position)) else {
    throw Refusal("the node has \(indices.count) such tensors, and none \(position)")
  }
  let index = indices.first[Int(position)]
  return index < 0 ? nil : try ContextReference.context(context).tensor(Int(index)).structure
}

@c(TfLiteOpaqueNodeGetInput)
public func nodeInput(
  _ context: UnsafeRawPointer?, _ node: UnsafeRawPointer?, _ position: Int32
) -> UnsafeMutableRawPointer? {
  onNode(node, failure: nil) { node throws(Refusal) in try tensor(context, node.inputs, position) }
}

@c(TfLiteOpaqueNodeGetOutput)
public func nodeOutput(
  _ context: UnsafeRawPointer?, _ node: UnsafeRawPointer?, _ position: Int32
) -> UnsafeMutableRawPointer? {
  onNode(node, failure: nil) { node throws(Refusal) in try tensor(context, node.outputs, position) }
}

@c(TfLiteOpaqueNodeNumberOfInputs)
public func nodeInputCount(_ node: UnsafeRawPointer?) -> Int32 {
  onNode(node, failure: 0) { Int32(clamping: $0.inputs.count) }
}

@c(TfLiteOpaqueNodeNumberOfOutputs)
public func nodeOutputCount(_ node: UnsafeRawPointer?) -> Int32 {
  onNode(node, failure: 0) { Int32(clamping: $0.outputs.count) }
}

@c(TfLiteOpaqueNodeGetUserData)
public func nodeUserData(_ node: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  onNode(node, failure: nil) { $0.data }
}

@c(TfLiteOpaqueNodeGetBuiltinData)
public func nodeBuiltinData(_ node: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
  // Only custom operators are the client's, and they have none.
  onNode(node, failure: nil) { _ in nil }
}

@c(TfLiteOpaqueNodeGetCustomInitialData)
public func nodeOptions(
  _ node: UnsafeRawPointer?, _ data: UnsafeMutablePointer<UnsafeRawPointer?>?,
  _ byteCount: UnsafeMutablePointer<Int32>?
) -> Int32 {
  onNode(node, failure: Status.error) { node throws(Refusal) in
    guard let data, let byteCount else { throw Refusal("the place for the data or for their size is NULL") }
    data.pointee = UnsafeRawPointer(node.options.baseAddress)
    byteCount.pointee = Int32(clamping: node.optionCount)
    return Status.ok
  }
}

private func hand(
  _ indices: CIntegers, to elements: UnsafeMutablePointer<UnsafePointer<Int32>?>?,
  _ count: UnsafeMutablePointer<Int32>?
) throws(Refusal) -> Int32 {
  guard let elements, let count else { throw Refusal("the place for the indices or for their count is NULL") }
  elements.pointee = UnsafePointer(indices.first)
  count.pointee = Int32(clamping: indices.count)
  return Status.ok
}

@c(TfLiteOpaqueNodeInputs)
public func nodeInputs(
  _ node: UnsafeRawPointer?, _ elements: UnsafeMutablePointer<UnsafePointer<Int32>?>?,
  _ count: UnsafeMutablePointer<Int32>?
) -> Int32 {
  onNode(node, failure: Status.error) { node throws(Refusal) in try hand(node.inputs, to: elements, count) }
}

@c(TfLiteOpaqueNodeOutputs)
public func nodeOutputs(
  _ node: UnsafeRawPointer?, _ elements: UnsafeMutablePointer<UnsafePointer<Int32>?>?,
  _ count: UnsafeMutablePointer<Int32>?
) -> Int32 {
  onNode(node, failure: Status.error) { node throws(Refusal) in try hand(node.outputs, to: elements, count) }
}

@c(TfLiteOpaqueNodeTemporaries)
public func nodeTemporaries(
  _ node: UnsafeRawPointer?, _ elements: UnsafeMutablePointer<UnsafePointer<Int32>?>?,
  _ count: UnsafeMutablePointer<Int32>?
) -> Int32 {
  onNode(node, failure: Status.error) { node throws(Refusal) in
    try hand(node.temporaries, to: elements, count)
  }
}

@c(TfLiteOpaqueNodeSetTemporaries)
public func nodeSetTemporaries(
  _ node: UnsafeRawPointer?, _ elements: UnsafePointer<Int32>?, _ count: Int32
) -> Int32 {
  onNode(node, failure: Status.error) { node throws(Refusal) in
    guard let indices = CArrays.integers(elements, count: count) else {
      throw Refusal("the indices of temporary tensors are NULL, or their count is below zero")
    }
    node.setTemporaries(indices)
    return Status.ok
  }
}

@c(TfLiteOpaqueNodeGetInputTensorIndex)
public func nodeInputIndex(_ node: UnsafeRawPointer?, _ position: Int32) -> Int32 {
  onNode(node, failure: -1) { node in
    (0..<node.inputs.count).contains(Int(position)) ? node.inputs.first[Int(position)] : -1
  }
}

@c(TfLiteOpaqueNodeGetOutputTensorIndex)
public func nodeOutputIndex(_ node: UnsafeRawPointer?, _ position: Int32) -> Int32 {
  onNode(node, failure: -1) { node in
    (0..<node.outputs.count).contains(Int(position)) ? node.outputs.first[Int(position)] : -1
  }
}

// MARK: Contexts

@c(TfLiteOpaqueContextGetOpaqueTensor)
public func opaqueContextTensor(_ context: UnsafeRawPointer?, _ index: Int32) -> UnsafeMutableRawPointer? {
  contextTensor(context, index)
}

@c(TfLiteOpaqueContextGetNumTensors)
public func contextTensorCount(_ context: UnsafeRawPointer?) -> Int {
  onContext(context, failure: 0) { $0.tensors.count }
}

@c(TfLiteOpaqueContextResizeTensor)
public func contextResize(
  _ context: UnsafeRawPointer?, _ tensor: UnsafeMutableRawPointer?, _ dimensions: UnsafeMutableRawPointer?
) -> Int32 { resizeTensor(context, tensor, dimensions) }

@c(TfLiteOpaqueContextAddTensor)
public func contextAddTensor(
  _ context: UnsafeRawPointer?, _ builder: OpaquePointer?, _ index: UnsafeMutablePointer<Int32>?
) -> Int32 {
  onContext(context, failure: Status.error) { context throws(Refusal) in
    let builder = try HandleTable.shared.object(builder, TensorBuilderHandle.self)
    let added = try context.addTemporary(builder.type.withLock { $0 })
    index?.pointee = Int32(clamping: added)
    return Status.ok
  }
}

@c(TfLiteOpaqueContextGetSizeOfType)
public func contextTypeByteCount(
  _ context: UnsafeRawPointer?, _ type: Int32, _ byteCount: UnsafeMutablePointer<Int>?
) -> Int32 {
  onContext(context, failure: Status.error) { _ throws(Refusal) in
    guard let byteCount, let count = ElementType(code: type)?.byteCount else {
      throw Refusal("the type \(type) has no fixed size, or the place for it is NULL")
    }
    byteCount.pointee = count
    return Status.ok
  }
}

/// Declared in C with `...` for the format's arguments; see ``VariadicReport``.
@c(TfLiteOpaqueContextReportError)
public func contextReportError(
  _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ a: Int, _ b: Int, _ c: Int,
  _ d: Int, _ e: Double, _ f: Double, _ g: Double, _ h: Double, _ i: Double, _ j: Double, _ k: Double,
  _ l: Double, _ m: Int, _ n: Int, _ o: Int, _ p: Int, _ q: Int, _ r: Int
) { reportVariadically(context, format, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r) }

@c(TfLiteOpaqueContextReportErrorVa)
public func contextReportErrorVa(
  _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ arguments: UnsafeMutableRawPointer?
) { onContext(context, failure: ()) { $0.reporter.report(format, arguments) } }

// MARK: Tensor builders

@c(TfLiteOpaqueTensorBuilderCreate)
public func tensorBuilderCreate() -> OpaquePointer? { HandleTable.shared.add(TensorBuilderHandle()) }

@c(TfLiteOpaqueTensorBuilderDelete)
public func tensorBuilderDelete(_ builder: OpaquePointer?) {
  HandleTable.shared.delete(builder, TensorBuilderHandle.self)
}

@c(TfLiteOpaqueTensorBuilderSetType)
public func tensorBuilderSetType(_ builder: OpaquePointer?, _ type: Int32) -> OpaquePointer? {
  call(builder, TensorBuilderHandle.self, failure: nil) { handle throws(Refusal) in
    guard let type = ElementType(code: type) else { throw Refusal("there is no TfLiteType \(type)") }
    handle.type.withLock { $0 = type }
    return builder
  }
}

@c(TfLiteOpaqueTensorBuilderSetAllocationType)
public func tensorBuilderSetAllocation(_ builder: OpaquePointer?, _ allocation: Int32) -> OpaquePointer? {
  call(builder, TensorBuilderHandle.self, failure: nil) { _ throws(Refusal) in
    guard allocation == TensorRecord.Allocation.arena.rawValue else {
      throw Refusal("tensors that operators add are allocated as kTfLiteArenaRw (2), not as \(allocation)")
    }
    return builder
  }
}

// MARK: Delegates

@c(TfLiteOpaqueDelegateCreate)
public func delegateCreate(_ builder: UnsafeRawPointer?) -> OpaquePointer? {
  // Its functions are never called: an interpreter with a delegate is refused. Its data begin the structure.
  guard let builder else { return nil }
  return HandleTable.shared.add(
    DelegateHandle(data: builder.loadUnaligned(as: UnsafeMutableRawPointer?.self)))
}

@c(TfLiteOpaqueDelegateDelete)
public func delegateDelete(_ delegate: OpaquePointer?) {
  HandleTable.shared.delete(delegate, DelegateHandle.self)
}

@c(TfLiteOpaqueDelegateGetData)
public func delegateData(_ delegate: OpaquePointer?) -> UnsafeMutableRawPointer? {
  delegate == nil ? nil : call(delegate, DelegateHandle.self, failure: nil) { $0.data }
}
