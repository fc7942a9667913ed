// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The functions that a `TfLiteContext` offers to operators.
enum ContextFunctions {
  private typealias Refuse = @convention(c) (UnsafeMutableRawPointer?) -> Int32
  private typealias RefuseWithNothing = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  private typealias Resize =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
  private typealias ResizeExplicit =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<Int32>?) -> Int32
  private typealias GetTensor = @convention(c) (UnsafeRawPointer?, Int32) -> UnsafeMutableRawPointer?

  /// The functions for other nodes and for memory planned elsewhere, with their places. Further arguments are ignored.
  private static let refusals: [(offset: Int, function: Refuse)] = [
    (ContextLayout.getExecutionPlan, { refuse($0, "GetExecutionPlan") }),
    (ContextLayout.addTensors, { refuse($0, "AddTensors") }),
    (ContextLayout.getNodeAndRegistration, { refuse($0, "GetNodeAndRegistration") }),
    (ContextLayout.replaceNodeSubsets, { refuse($0, "ReplaceNodeSubsetsWithDelegateKernels") }),
    (ContextLayout.setExternalContext, { refuse($0, "SetExternalContext") }),
    (ContextLayout.allocateBufferForEval, { refuse($0, "AllocateBufferForEval") }),
    (ContextLayout.requestScratchBuffer, { refuse($0, "RequestScratchBufferInArena") }),
    (ContextLayout.previewDelegatePartitioning, { refuse($0, "PreviewDelegatePartitioning") }),
    (ContextLayout.getModelMetadata, { refuse($0, "GetModelMetadata") }),
    (ContextLayout.acquireSubgraphContext, { refuse($0, "AcquireSubgraphContext") }),
    (ContextLayout.releaseSubgraphContext, { refuse($0, "ReleaseSubgraphContext") }),
  ]

  /// The functions among them that return a pointer.
  private static let refusalsWithNothing: [(offset: Int, function: RefuseWithNothing)] = [
    (ContextLayout.getExternalContext, { refuseWithNothing($0, "GetExternalContext") }),
    (ContextLayout.allocatePersistentBuffer, { refuseWithNothing($0, "AllocatePersistentBuffer") }),
    (ContextLayout.getScratchBuffer, { refuseWithNothing($0, "GetScratchBuffer") }),
    (ContextLayout.getEvalTensor, { refuseWithNothing($0, "GetEvalTensor") }),
  ]

  private static func refuse(_ context: UnsafeRawPointer?, _ name: String) -> Int32 {
    onContext(context, failure: Status.error) { _ throws(Refusal) in
      throw Refusal("\(name) of TfLiteContext is not supported")
    }
  }

  private static func refuseWithNothing(
    _ context: UnsafeRawPointer?, _ name: String
  ) -> UnsafeMutableRawPointer? {
    _ = refuse(context, name)
    return nil
  }

  private static let resize: Resize = { context, tensor, dimensions in
    resizeTensor(context, tensor, dimensions)
  }

  private static let resizeExplicit: ResizeExplicit = { context, tensor, count, dimensions in
    resizeTensor(context, tensor, CArrays.integers(dimensions, count: count))
  }

  private static let getTensor: GetTensor = { context, index in contextTensor(context, index) }

  /// Fills the functions in.
  static func install(in context: UnsafeMutableRawPointer) {
    for (offset, function) in refusals {
      context.storeBytes(of: function, toByteOffset: offset, as: Refuse.self)
    }
    for (offset, function) in refusalsWithNothing {
      context.storeBytes(of: function, toByteOffset: offset, as: RefuseWithNothing.self)
    }
    context.storeBytes(of: resize, toByteOffset: ContextLayout.resizeTensor, as: Resize.self)
    context.storeBytes(
      of: resizeExplicit, toByteOffset: ContextLayout.resizeTensorExplicit, as: ResizeExplicit.self)
    context.storeBytes(of: getTensor, toByteOffset: ContextLayout.getTensor, as: GetTensor.self)
    context.storeBytes(
      of: reportVariadically, toByteOffset: ContextLayout.reportError, as: VariadicReport.self)
  }
}

/// The shape of an operator's tensor changes; the array is the function's from now on, as in TensorFlow Lite.
func resizeTensor(
  _ context: UnsafeRawPointer?, _ tensor: UnsafeRawPointer?, _ array: UnsafeMutableRawPointer?
) -> Int32 {
  let dimensions = CArrays.integers(array)
  CArrays.release(array)
  return resizeTensor(context, tensor, dimensions)
}

func resizeTensor(
  _ context: UnsafeRawPointer?, _ tensor: UnsafeRawPointer?, _ dimensions: [Int32]?
) -> Int32 {
  onContext(context, failure: Status.error) { context throws(Refusal) in
    try context.resize(tensor, to: dimensions)
    return Status.ok
  }
}

/// A tensor of an operator.
func contextTensor(_ context: UnsafeRawPointer?, _ index: Int32) -> UnsafeMutableRawPointer? {
  onContext(context, failure: nil) { context throws(Refusal) in try context.tensor(Int(index)).structure }
}

/// A call on a context.
func onContext<R>(
  _ pointer: UnsafeRawPointer?, failure: R, _ body: (NodeContext) throws(Refusal) -> R
) -> R {
  do throws(Refusal) {
    let context = try ContextReference.context(pointer)
    do throws(Refusal) { return try body(context) } catch { context.reporter.report(error.message) }
  } catch { ErrorReporter.standard.report(error.message) }
  return failure
}

/// A call on a node.
func onNode<R>(_ pointer: UnsafeRawPointer?, failure: R, _ body: (NodeReference) throws(Refusal) -> R) -> R {
  do throws(Refusal) { return try body(NodeReference.Entry.node(pointer)) } catch {
    ErrorReporter.standard.report(error.message)
    return failure
  }
}
