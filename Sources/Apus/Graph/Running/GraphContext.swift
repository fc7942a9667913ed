// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels
import ApusRuntime

/// The state that the graphs of one interpreter share: options, the other subgraphs, and resource variables.
final class GraphContext {
  let model: Model
  let kernels: KernelSet
  /// The precision of products of floats.
  let precision: Interpreter.Precision
  /// The threads that a run may use.
  let threads: ThreadTeam
  /// The threads that the current run uses.
  var threadsInUse: ThreadTeam
  let memoryLimit: Int
  let workLimit: Int
  let elementLimit: Int
  /// The limits of runs.
  let limits: RunLimits
  /// Variables that operators name by handles.
  let resources: ResourceStore
  /// For each subgraph: whether `CALL_ONCE` has run it.
  var wasCalled: [Bool]

  /// The rewrites that planning applies.
  let passes: Passes

  private var randomStreams: [OperatorPlace: RandomStream] = [:]
  private let customOperators: [String: OperatorRegistration]
  /// The graphs of called subgraphs. They are few, so they are searched linearly: the first dictionary of a
  /// type in a process takes longer than planning several operators.
  private var children: [Graph] = []
  private var nestedPreparations = 0
  let heldMemory: HeldMemory

  /// The maximum number of subgraph preparations per preparation of the model: operators may share subgraphs and
  /// disagree on shapes at every level.
  private static let preparationLimit = 10_000

  init(
    model: Model, kernels: KernelSet, options: Interpreter.Options,
    customOperators: [String: OperatorRegistration] = [:]
  ) {
    let threads = ThreadTeam(count: options.threadCount)
    passes = options.passes
    precision = options.precision
    self.model = model
    self.kernels = kernels
    self.threads = threads
    threadsInUse = threads
    memoryLimit = options.memoryLimit
    workLimit = options.workLimit
    elementLimit = options.elementLimit
    limits = RunLimits(options)
    self.customOperators = customOperators
    heldMemory = HeldMemory()
    resources = ResourceStore(memoryLimit: options.memoryLimit, heldMemory: heldMemory)
    wasCalled = Array(repeating: false, count: model.file.subgraphs.count)
  }

  /// The registration of an operator: the caller's custom operators come before the engine's.
  func registration(of entry: OperatorEntry, at index: Int) throws(ApusError) -> OperatorRegistration {
    if !customOperators.isEmpty {
      let code = model.file.operatorCodes[entry.operatorCode]
      if code.code == .custom, let own = customOperators[code.name] { return own }
    }
    return try model.registration(of: entry, at: index)
  }

  /// Throws, with all reasons, if a subgraph or one that it runs has operators that cannot run.
  func requireOperators(reachedFrom subgraph: Int) throws(ApusError) {
    let reasons = model.unsupportedOperators(besides: customOperators, reachedFrom: subgraph)
    guard let first = reasons.first else { return }
    let more = reasons.count > 1 ? " (and \(reasons.count - 1) more)" : ""
    throw ApusError(.unsupportedOperator, first + more, reasons: reasons)
  }

  /// The graph of a subgraph that operators call; all callers share it. Calls have no cycles, see
  /// ``SubgraphCalls``, so a graph never runs within itself.
  func child(_ index: Int) throws(ApusError) -> Graph {
    if let known = children.first(where: { $0.subgraphIndex == index }) { return known }
    let graph = try Graph(context: self, subgraph: index, passes: passes)
    children.append(graph)
    return graph
  }

  /// The random numbers of an operator, which continue when it is prepared again; see ``restartRandomStreams(ofSubgraph:in:)``.
  func randomStream(subgraph: Int, operator index: Int, seed: UInt64, seed2: UInt64) -> RandomStream {
    let place = OperatorPlace(subgraph: subgraph, index: index)
    if let known = randomStreams[place] { return known }
    let stream = RandomStream(seed: seed, seed2: seed2)
    randomStreams[place] = stream
    return stream
  }

  /// Restarts the random numbers of some operators, as the reference does wherever it prepares an operator anew. Those with
  /// arbitrary seeds continue.
  func restartRandomStreams(ofSubgraph subgraph: Int, in operators: Range<Int>) {
    for (place, stream) in randomStreams where place.subgraph == subgraph && operators.contains(place.index) {
      stream.restart()
    }
  }

  /// Whether a subgraph has operators that draw random numbers.
  func drawsRandomNumbers(inSubgraph subgraph: Int) -> Bool {
    !randomStreams.isEmpty && randomStreams.keys.contains { $0.subgraph == subgraph }
  }

  /// Begins the preparation of the whole model.
  func beginPreparation() {
    nestedPreparations = 0
    limits.begin()
  }

  /// Begins a run of a graph, with as many threads as its work is worth.
  func beginRun(of graph: Graph, _ cancellation: Cancellation?) {
    nestedPreparations = 0
    limits.begin(cancellation)
    threadsInUse = ThreadTeam(count: threads.count, stoppedBy: limits.watchedSignal)
      .forRun(nanoseconds: nanoseconds(of: graph))
  }

  /// Ends a run.
  func endRun() {
    limits.end()
    threadsInUse = threads
  }

  /// Counts one preparation of a called subgraph.
  func countPreparation() throws(ApusError) {
    nestedPreparations += 1
    guard nestedPreparations <= Self.preparationLimit else {
      throw ApusError(
        .resourceLimit, "subgraphs call each other in more than \(Self.preparationLimit) ways")
    }
  }

  /// The estimated duration of a run of a graph, with all graphs that it may call, on one thread; `.max` if a
  /// part is not planned yet.
  func nanoseconds(of graph: Graph) -> Int {
    guard graph.isPlanned else { return .max }
    return children.reduce(graph.nanoseconds) { $1 === graph ? $0 : $0 &+ $1.nanoseconds }
  }

  /// Throws if `byteCount` more bytes would exceed the memory limit. All graphs count; one of them is about
  /// to take `held` bytes instead of `counted`.
  func checkMemory(
    _ byteCount: Int, beside held: Int, insteadOf counted: Int, _ place: @autoclosure () -> String
  ) throws(ApusError) {
    let others = max(heldMemory.byteCount - counted, 0).addingClamped(held)
    guard byteCount <= memoryLimit, others <= memoryLimit - byteCount else {
      throw ApusError(
        .resourceLimit,
        "\(place()): needs \(byteCount) bytes beside \(others), more than the limit of \(memoryLimit)")
    }
  }

  /// Resets all state that lives between runs.
  func reset() {
    resources.removeAll()
    for index in wasCalled.indices { wasCalled[index] = false }
    for stream in randomStreams.values { stream.reset() }
    resetVariableTensors()
  }

  /// Resets the variable tensors of called subgraphs.
  func resetVariableTensors() {
    for child in children { child.resetVariables() }
  }

  /// An operator's position in a model.
  private struct OperatorPlace: Hashable {
    let subgraph: Int
    let index: Int
  }
}
