import ApusFormat
import ApusKernels

/// One subgraph, prepared for the shapes of its inputs: the plan, its memory, and the walk over its operators.
///
/// A plan is a list of segments. A segment ends before an operator whose preparation needs a value that only a run
/// computes; what follows is prepared after the values are there, and kept for as long as they stay equal.
///
/// Extensions have the aspects: wiring, planning, constants, memory, what nodes ask for, running, subgraphs, padding.
final class Graph {
  /// The interpreter owns it, and all of its graphs.
  unowned let context: GraphContext
  let subgraph: SubgraphEntry
  let subgraphIndex: Int
  let preservesAllTensors: Bool
  var model: Model { context.model }
  var kernels: KernelSet { context.kernels }
  var threads: ThreadTeam { context.threads }
  var memoryLimit: Int { context.memoryLimit }

  var states: [TensorState] = []
  /// Multiply-accumulates, by operator.
  var multiplyAccumulates: [Int]
  var steps: [Step] = []
  var segments: [Segment] = []
  var placements: [Placement] = []
  /// The bytes of variables.
  var variableByteCount = 0
  /// Set by ``setInputShape(_:_:)``.
  var inputShapes: [TensorShape]
  var inputMemory: TensorMemory?
  /// The memory of variables, by tensor.
  var variables: [Int: TensorMemory] = [:]
  /// Where each tensor lies, and each piece of scratch memory behind them.
  let buffers: TensorBuffers
  /// The bytes of constants that have none.
  let nothing = TensorMemory(byteCount: 0)
  /// Whether a walk is under way, so that a new segment may read what those before it computed.
  var isRunning = false
  /// Whether there is a plan for `inputShapes`.
  var isPrepared = false

  init(context: GraphContext, subgraph index: Int, preservesAllTensors: Bool) throws(ApusError) {
    self.context = context
    subgraphIndex = index
    self.preservesAllTensors = preservesAllTensors
    let subgraph = context.model.file.subgraphs[index]
    self.subgraph = subgraph
    inputShapes = subgraph.inputs.map { TensorShape(subgraph.tensors[$0].shape.map { $0 < 0 ? 1 : $0 }) }
    multiplyAccumulates = Array(repeating: 0, count: subgraph.operators.count)
    buffers = TensorBuffers(capacity: subgraph.tensors.count + subgraph.operators.count)
    states = try initialStates()
  }

  /// What operators see of the tensors' memory.
  var table: TensorTable { TensorTable(buffers.base, threads: context.threadsInUse) }

  /// Lends the table of tensors, whose elements hold once a run is done.
  func withTable<R>(_ body: (borrowing TensorTable) throws(ApusError) -> R) throws(ApusError) -> R {
    try body(table)
  }
}
