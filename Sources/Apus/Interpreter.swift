// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels
import ApusRuntime

/// Runs a ``Model``, and owns the memory of its tensors.
///
/// ```swift
/// let interpreter = try Interpreter(model: Model(contentsOfFile: "mobilenet.tflite"))
/// try interpreter.copy(pixels, toInputAt: 0)
/// try interpreter.invoke()
/// let scores = try interpreter.output(at: 0, as: UInt8.self)
/// ```
///
/// An interpreter belongs to one thread at a time; make one for each thread from the same model, whose weights they
/// share. Inputs keep their values from run to run.
public final class Interpreter {
  /// The model that runs.
  public let model: Model
  /// The name of the preferred kernel set.
  public let kernels: KernelSetName

  private let options: Options
  private let context: GraphContext
  let graph: Graph
  private let signatureKey: String?
  private let observer: RunObserver
  /// The memory that running closures of `withInput` and its like have.
  var lent: [LentMemory] = []

  /// Prepares a model: checks every operator, plans memory, packs weights.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - options: How to run it.
  ///   - key: The signature to run; nil for the main subgraph.
  /// - Throws: `unsupportedOperator` with all reasons, for operators that this function or one that it calls has;
  ///   `malformedModel` if an operator's inputs or options violate its rules; `resourceLimit` beyond a limit of ``Options``, or if the system refuses memory;
  ///   `unreadableFile` if the file was changed meanwhile; `invalidArgument` for a wrong option, shape or
  ///   signature.
  public convenience init(model: Model, options: Options = Options(), signature key: String? = nil)
    throws(ApusError)
  {
    guard (1...64).contains(options.threadCount) else {
      throw ApusError(.invalidArgument, "threadCount is \(options.threadCount), not 1 to 64")
    }
    let kernels: KernelSet
    if let set = options.kernelSet {
      kernels = set
    } else {
      kernels = try Runtime.kernelSet(named: options.kernels)
    }
    let custom = options.customOperators.registrations
    guard custom.count == options.customOperators.count else {
      throw ApusError(.invalidArgument, "two of customOperators have the same name")
    }
    try SubgraphCalls.check(model, depthLimit: model.limits.callDepth)
    let context = GraphContext(model: model, kernels: kernels, options: options, customOperators: custom)
    try self.init(context, options: options, signature: key)
  }

  /// Prepares another function of an interpreter's model; both share their resource variables.
  ///
  /// Each reads what the other assigns, as a function that trains and a function that predicts must. The new interpreter
  /// uses the options of the other one. Together they belong to one thread at a time.
  ///
  /// - Parameters:
  ///   - other: The interpreter whose variables are shared.
  ///   - key: The signature to run; nil for the main subgraph.
  ///   - inputShapes: Input shapes by position, as in ``Options/inputShapes``.
  /// - Throws: `invalidArgument` if there is no such signature or input; otherwise as
  ///   ``init(model:options:signature:)``.
  public convenience init(
    sharingVariablesOf other: Interpreter, signature key: String?, inputShapes: [Int: TensorShape] = [:]
  ) throws(ApusError) {
    var options = other.options
    options.inputShapes = inputShapes
    try self.init(other.context, options: options, signature: key)
  }

  private init(_ context: GraphContext, options: Options, signature key: String?) throws(ApusError) {
    model = context.model
    kernels = KernelSetName(rawValue: context.kernels.name)
    self.options = options
    signatureKey = key
    self.context = context
    observer = RunObserver(profiles: options.profiles, limits: context.limits)
    let subgraph = try Self.subgraph(ofSignature: key, in: context.model)
    try context.requireOperators(reachedFrom: subgraph)
    graph = try Graph(
      context: context, subgraph: subgraph,
      passes: options.preservesAllTensors ? options.passes.preservingTensors : options.passes)
    for (position, shape) in options.inputShapes {
      _ = try inputTensor(position)
      try Self.check(shape, position)
      graph.setInputShape(position, shape)
    }
    try prepare()
  }

  static func subgraph(ofSignature key: String?, in model: Model) throws(ApusError) -> Int {
    guard let key else { return 0 }
    guard let signature = model.signatures.first(where: { $0.key == key }) else {
      let known = model.signatures.map(\.key).joined(separator: ", ")
      throw ApusError(
        .invalidArgument,
        known.isEmpty
          ? "the model has no signatures, and so none that is called \(key)"
          : "the model has no signature \(key), only: \(known)")
    }
    return signature.subgraph
  }

  private func prepare() throws(ApusError) {
    if !graph.isPrepared {
      let began = Trace.now
      defer { Trace.record(.prepare, since: began) }
      context.beginPreparation()
      try graph.prepare()
    }
    if options.profiles { observer.reset(steps: graph.segments.reduce(0) { $0 + $1.plan.steps.count }) }
  }

  // MARK: Tensors

  /// The inputs in order, with the shapes that are prepared.
  public var inputs: [Tensor] { graph.subgraph.inputs.map(tensor) }

  /// The outputs in order, with the shapes that are prepared. If data decides a shape, it is that of the last run.
  public var outputs: [Tensor] { graph.subgraph.outputs.map(tensor) }

  /// Every tensor of the subgraph, with the shape that is prepared.
  public var tensors: [Tensor] { graph.subgraph.tensors.indices.map(tensor) }

  /// The description of the tensor at an index of ``tensors``.
  package func tensor(_ index: Int) -> Tensor {
    model.tensor(index, subgraph: graph.subgraphIndex, shape: graph.shape(of: index))
  }

  /// The position of the input with a name: the signature's name first, then the tensor's.
  ///
  /// - Throws: `invalidArgument` with the known names.
  public func inputIndex(named name: String) throws(ApusError) -> Int {
    try position(
      of: name, signature: signature?.inputs, tensors: graph.subgraph.inputs)
  }

  /// The position of the output with a name: the signature's name first, then the tensor's.
  ///
  /// - Throws: `invalidArgument` with the known names.
  public func outputIndex(named name: String) throws(ApusError) -> Int {
    try position(
      of: name, signature: signature?.outputs, tensors: graph.subgraph.outputs)
  }

  /// The signature that was asked for, or else that of the function.
  private var signature: Signature? {
    if let signatureKey { return model.signatures.first { $0.key == signatureKey } }
    return model.signature(ofSubgraph: graph.subgraphIndex)
  }

  private func position(
    of name: String, signature: [Signature.Argument]?, tensors: [Int]
  ) throws(ApusError) -> Int {
    if let tensor = signature?.first(where: { $0.name == name })?.tensor.index,
      let position = tensors.firstIndex(of: tensor)
    {
      return position
    }
    if let position = tensors.firstIndex(where: { graph.subgraph.tensors[$0].name == name }) {
      return position
    }
    let known = tensors.map { tensor in
      signature?.first { $0.tensor.index == tensor }?.name ?? graph.wiring.name(of: tensor)
    }
    throw ApusError(
      .invalidArgument, "there is no tensor \(name) here, only: \(known.joined(separator: ", "))")
  }

  /// Changes the shape of an input and prepares the model for it. All tensors lose their values.
  ///
  /// - Parameters:
  ///   - position: The input's position in ``inputs``.
  ///   - shape: The new shape; operators decide whether they accept it.
  ///   - isStrict: Whether only dimensions that ``Tensor/shapeSignature`` leaves open (−1) may change.
  /// - Throws: `invalidArgument` if there is no such input, the shape is not allowed, or a closure has memory of the interpreter; the operator's error if the
  ///   model cannot run with this shape. The interpreter then stays as it was.
  public func resizeInput(at position: Int, to shape: TensorShape, isStrict: Bool = false) throws(ApusError) {
    try resizeInputs([position: shape], isStrict: isStrict)
  }

  /// Changes the shapes of several inputs at once and prepares the model for them. All tensors lose their values.
  ///
  /// Use this if inputs must fit each other; one at a time, the first change would be refused.
  ///
  /// - Parameters:
  ///   - shapes: The new shapes by position; operators decide whether they accept them.
  ///   - isStrict: Whether only dimensions that ``Tensor/shapeSignature`` leaves open (−1) may change.
  /// - Throws: As ``resizeInput(at:to:isStrict:)``. The interpreter then stays as it was.
  public func resizeInputs(_ shapes: [Int: TensorShape], isStrict: Bool = false) throws(ApusError) {
    try checkNothingIsLent("inputs are resized")
    for (position, shape) in shapes {
      let index = try inputTensor(position)
      try Self.check(shape, position)
      let signature = tensor(index).shapeSignature
      let isOpen =
        signature.count == shape.rank && zip(signature, shape.dimensions).allSatisfy { $0 < 0 || $0 == $1 }
      guard isOpen || !isStrict else {
        throw ApusError(
          .invalidArgument,
          "input \(position): \(shape) does not fit \(TensorShape(signature)), where -1 is open")
      }
    }
    let old = graph.inputShapes
    for (position, shape) in shapes { graph.setInputShape(position, shape) }
    do {
      try prepare()
    } catch {
      for (position, shape) in old.enumerated() { graph.setInputShape(position, shape) }
      throw error
    }
  }

  private static func check(_ shape: TensorShape, _ position: Int) throws(ApusError) {
    guard shape.dimensions.allSatisfy({ $0 >= 0 }) else {
      throw ApusError(.invalidArgument, "input \(position): \(shape) has a negative dimension")
    }
    // Memory does not bound the sizes of what has no elements.
    guard shape.elementCount > 0 || shape.extent <= Int(Int32.max) else {
      throw ApusError(
        .resourceLimit,
        "input \(position): \(shape) has sizes whose product is more than the limit of \(Int32.max)")
    }
  }

  func inputTensor(_ position: Int) throws(ApusError) -> Int {
    try graph.subgraph.inputs.element(at: position, of: "input")
  }

  func outputTensor(_ position: Int) throws(ApusError) -> Int {
    try graph.subgraph.outputs.element(at: position, of: "output")
  }

  // MARK: Running

  /// Computes the outputs from the inputs. Allocates nothing after the first run, unless shapes change.
  ///
  /// After an error, outputs are undefined, and variables are those of some moment of the run: ``resetVariables()`` begins anew.
  ///
  /// - Parameter cancellation: A flag that stops the run, before the next operator or in the middle of a long one.
  /// - Throws: `invalidData`, naming the operator, if a value in a tensor is invalid, such as an index out of range;
  ///   `invalidArgument` within a closure that has memory of the interpreter;
  ///   `cancelled`; `resourceLimit` if the run takes more time or work than ``Options`` allow. If data decides shapes,
  ///   also the errors of ``init(model:options:signature:)``.
  public func invoke(cancellation: Cancellation? = nil) throws(ApusError) {
    try checkNothingIsLent("the interpreter is invoked")
    try prepare()
    context.beginRun(of: graph, cancellation)
    defer { withExtendedLifetime(cancellation) { context.endRun() } }
    let began = Trace.now
    defer { Trace.record(.invoke, since: began) }
    try observer.checkSignal()
    try graph.run(observer)
  }

  /// Resets everything that the model keeps between runs: variables, and the sequences of random operators.
  public func resetVariables() {
    graph.resetVariables()
    context.reset()
  }

  /// Resets variable tensors, as TensorFlow Lite does: resource variables and the sequences of random operators stay as they are.
  @_spi(TensorFlowLite) public func resetVariableTensors() {
    graph.resetVariables()
    context.resetVariableTensors()
  }

  /// Whether the shapes of the inputs decide those of all results, so that outputs have the same shapes in every run.
  @_spi(TensorFlowLite) public var hasFixedShapes: Bool { graph.isPlanned && graph.segments.count == 1 }

  // MARK: Insight

  /// The place of each tensor in memory.
  public var memoryPlan: MemoryPlan { graph.memoryPlan }

  /// The size of packed weights in bytes, shared by all interpreters of the model.
  public var packedWeightByteCount: Int { model.packedByteCount }

  /// The bytes that this interpreter takes, and those that share its variables, without what the model's interpreters share; nil
  /// before its first run if data decides them.
  package var ownByteCount: Int? {
    graph.isPlanned ? max(context.heldMemory.byteCount - model.packedByteCount, 0) : nil
  }

  /// The multiply-accumulates of one run: a measure of its work.
  public var multiplyAccumulates: Int { steps.reduce(0) { $0 &+ $1.multiplyAccumulates } }

  private var steps: [Step] { graph.segments.flatMap(\.plan.steps) }

  /// The time of each step in the last run, in order; empty unless ``Options/profiles`` is set.
  ///
  /// An operator that another step absorbs has no entry of its own: see ``ProfileEntry/absorbed``.
  public var profile: [ProfileEntry] {
    zip(plan.steps, observer.durations).map { step, nanoseconds in
      ProfileEntry(
        operatorIndex: step.operators[0].index, name: step.operators[0].name,
        absorbed: step.operators.dropFirst().map(\.name), implementation: step.implementation,
        output: step.output, duration: .nanoseconds(nanoseconds),
        multiplyAccumulates: step.multiplyAccumulates)
    }
  }
}

extension Array {
  /// An element, or an error that says how many there are.
  fileprivate func element(at position: Int, of what: String) throws(ApusError) -> Element {
    guard indices.contains(position) else {
      throw ApusError(.invalidArgument, "there is no \(what) \(position): the model has \(count)")
    }
    return self[position]
  }
}
