import ApusFormat
import ApusKernels

/// One subgraph, prepared for the shapes of its inputs: the plan, its memory, and the walk over its operators.
///
/// A plan is a list of segments. A segment ends before an operator whose preparation needs a value that only a run
/// computes; what follows is prepared after the values are there, and kept for as long as they stay equal.
final class Graph {
  /// What planning knows of one tensor, or of one piece of scratch memory.
  struct TensorState {
    /// What a tensor would be after padding another.
    struct Padding {
      let tensor: Int
      let top: Int
      let left: Int
    }

    let name: String
    let type: ElementType
    let quantization: QuantizationParameters?
    /// Nil until a producer defines it.
    var shape: TensorShape?
    /// The values, where no run is needed to know them.
    var constant: ConstantData?
    /// Whether the values were given back, as nothing will read them.
    var isDiscarded = false
    /// The tensor whose memory this one shares; itself where it has memory of its own.
    var root: Int
    /// The padding that its reader does itself; see ``Graph/absorbPadding(_:of:amounts:)``.
    var padding: Padding?
    /// The operator that computes it together with its own output; see ``FusibleOperator``.
    var fusedInto: Int?
    /// The operator that writes it; −1 for inputs, variables and constants.
    var producer: Int
    /// How often operators read it.
    var readerCount = 0
    /// The last operator that reads it; `Int.max` for inputs and outputs of the graph.
    var lastUse: Int
    /// Whether it keeps its values between runs.
    let isVariable: Bool
  }

  /// An operator that has work to do.
  struct Step {
    let node: Int
    let operation: any Operator
  }

  /// A stretch of operators prepared at once.
  struct Segment {
    /// The operators of the file that it covers.
    var nodes: Range<Int>
    /// Their steps.
    var steps: Range<Int>
    /// How many states, scratch included, there were before it.
    var stateCount: Int
    /// The values that its preparation read.
    var assumptions: [(tensor: Int, bytes: [UInt8])] = []
    /// What else its preparation took for granted.
    var conditions: [() -> Bool] = []
    /// Its last operator, where only a run of it decides the shapes of what it computes.
    var deferred: (any DeferredOperator)?
    /// The deferred operator whose outputs this segment, which covers no operator, gives memory to.
    var delivery: (operation: any DeferredOperator, node: Int)?
    /// The memory of the tensors that it produces.
    var memory: TensorMemory?
    /// The bytes of what its preparation made of constants: results kept, weights packed.
    var constantByteCount = 0
  }

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
  /// Multiply-accumulates of the operators that have any.
  var multiplyAccumulates: [Int: Int] = [:]
  var steps: [Step] = []
  var segments: [Segment] = []
  var memoryPlan = MemoryPlan()
  private(set) var inputShapes: [TensorShape]
  private var inputMemory: TensorMemory?
  private var variables: [Int: TensorMemory] = [:]
  private var buffers: UnsafeMutablePointer<TensorBuffer>
  private var bufferCapacity: Int
  /// The bytes of constants that have none.
  private let nothing = TensorMemory(byteCount: 0)
  private var isRunning = false
  private var isPrepared = false

  init(context: GraphContext, subgraph index: Int, preservesAllTensors: Bool) throws(ApusError) {
    self.context = context
    subgraphIndex = index
    subgraph = context.model.file.subgraphs[index]
    self.preservesAllTensors = preservesAllTensors
    inputShapes = []
    bufferCapacity = subgraph.tensors.count + 16
    buffers = .allocate(capacity: bufferCapacity)
    buffers.initialize(repeating: .none, count: bufferCapacity)
    inputShapes = subgraph.inputs.map { TensorShape(subgraph.tensors[$0].shape.map { $0 < 0 ? 1 : $0 }) }
    states = try initialStates()
  }

  deinit {
    buffers.deallocate()
  }

  // MARK: Planning

  /// What the file says of each tensor; the graph's wiring is checked here, once.
  private func initialStates() throws(ApusError) -> [TensorState] {
    var states: [TensorState] = []
    states.reserveCapacity(subgraph.tensors.count)
    for (index, tensor) in subgraph.tensors.enumerated() {
      let constant = tensor.isVariable ? nil : model.constant(subgraph: subgraphIndex, tensor: index)
      states.append(
        TensorState(
          name: tensor.name, type: ElementType(tensor.type), quantization: model.quantization(of: tensor),
          shape: constant == nil && !tensor.isVariable ? nil : TensorShape(tensor.shape), constant: constant,
          root: index, producer: -1, lastUse: -1, isVariable: tensor.isVariable))
    }
    for input in subgraph.inputs {
      states[input].lastUse = .max
      states[input].constant = nil
    }
    let inputs = Set(subgraph.inputs)
    for (index, node) in subgraph.operators.enumerated() {
      for input in node.inputs where input >= 0 {
        states[input].lastUse = max(states[input].lastUse, index)
        states[input].readerCount += 1
      }
      for output in node.outputs {
        let state = states[output]
        guard !node.inputs.contains(output) else {
          throw ApusError(.malformedModel, "operator #\(index): reads and writes \(state.name)")
        }
        guard state.producer < 0, state.constant == nil, !inputs.contains(output) else {
          throw ApusError(
            .malformedModel,
            "operator #\(index): writes \(state.name), which is a constant, an input or another's output")
        }
        states[output].producer = index
      }
    }
    // A constant without elements has no bytes in the file, and looks like a tensor that an operator writes.
    for index in states.indices
    where states[index].producer < 0 && states[index].shape == nil && !inputs.contains(index) {
      let shape = TensorShape(subgraph.tensors[index].shape)
      guard shape.elementCount == 0, shape.dimensions.allSatisfy({ $0 >= 0 }),
        states[index].type.byteCount != nil
      else {
        continue
      }
      states[index].shape = shape
      states[index].constant = ConstantData(
        base: UnsafeRawPointer(nothing.base), byteCount: 0, owner: nothing, isOfModel: true)
    }
    for output in subgraph.outputs {
      let state = states[output]
      guard state.producer >= 0 || state.constant != nil || state.isVariable || inputs.contains(output) else {
        throw ApusError(.malformedModel, "subgraph \(subgraphIndex): nothing writes the output \(state.name)")
      }
      states[output].lastUse = .max
    }
    if preservesAllTensors {
      for index in states.indices { states[index].lastUse = .max }
    }
    return states
  }

  /// Changes the shape of an input; the next ``prepare()`` plans anew.
  func setInputShape(_ position: Int, _ shape: TensorShape) {
    guard inputShapes[position] != shape else { return }
    inputShapes[position] = shape
    isPrepared = false
  }

  /// Plans the graph for the shapes of its inputs, as far as that can be done before data arrives.
  func prepare() throws(ApusError) {
    guard !isPrepared else { return }
    dropSegments(from: 0)
    memoryPlan = MemoryPlan()
    memoryPlan.variableByteCount = variables.values.reduce(0) { $0 + $1.byteCount }
    for index in subgraph.tensors.indices {
      if let constant = states[index].constant { setBuffer(index, constant.buffer) }
    }
    try allocateInputsAndVariables()
    try planSegment(from: 0)
    isPrepared = true
  }

  private func allocateInputsAndVariables() throws(ApusError) {
    var requests: [OffsetAssignment.Request] = []
    let inputs = subgraph.inputs.indices.filter { states[subgraph.inputs[$0]].isVariable == false }
    for position in inputs {
      let tensor = subgraph.inputs[position]
      states[tensor].shape = inputShapes[position]
      requests.append(.init(byteCount: try byteCount(of: tensor), lifetime: 0...0))
    }
    for tensor in inputs { setBuffer(subgraph.inputs[tensor], .none) }
    inputMemory = nil
    let memory = try place(requests, tensors: inputs.map { subgraph.inputs[$0] }, block: 0)
    inputMemory = memory
    for index in subgraph.tensors.indices where states[index].isVariable && variables[index] == nil {
      let count = try byteCount(of: index)
      try reserve(count)
      let memory = TensorMemory(byteCount: count)
      variables[index] = memory
      memoryPlan.variableByteCount += memory.byteCount
      setBuffer(index, TensorBuffer(base: memory.base, byteCount: count))
    }
    resetVariables()
  }

  /// Sets variables to zero: the zero point of `int8` ones.
  func resetVariables() {
    for (index, memory) in variables {
      let zero = states[index].type == .int8 ? states[index].quantization?.zeroPoint ?? 0 : 0
      memory.base.initializeMemory(
        as: UInt8.self, repeating: UInt8(truncatingIfNeeded: zero), count: memory.byteCount)
    }
  }

  func dropSegments(from first: Int) {
    guard first < segments.count else { return }
    let segment = segments[first]
    let firstNode = segment.delivery?.node ?? segment.nodes.lowerBound
    for index in subgraph.tensors.indices where states[index].producer >= firstNode {
      if states[index].isVariable { continue }
      states[index].shape = nil
      states[index].root = index
      states[index].constant = nil
      states[index].padding = nil
      states[index].fusedInto = nil
      states[index].isDiscarded = false
      setBuffer(index, .none)
    }
    states.removeSubrange(segment.stateCount...)
    steps.removeSubrange(segment.steps.lowerBound...)
    segments.removeSubrange(first...)
    memoryPlan.entries.removeAll { $0.block > first }
    memoryPlan.arenaByteCount = arenaByteCount
  }

  var arenaByteCount: Int {
    segments.reduce(inputMemory?.byteCount ?? 0) { $0 + ($1.memory?.byteCount ?? 0) }
  }

  /// Prepares operators from `start` on, up to the end or to the first whose preparation lacks a value.
  private func planSegment(from start: Int) throws(ApusError) {
    segments.append(Segment(nodes: start..<start, steps: steps.count..<steps.count, stateCount: states.count))
    let current = segments.count - 1
    do throws(ApusError) {
      var node = start
      while node < subgraph.operators.count {
        do throws(ApusError) {
          try prepareOperator(node)
        } catch {
          guard error.code == .valueNotKnown else { throw error }
          // All before the first operator has run: a value that is still missing will never come.
          guard !isRunning || node > start else { throw ApusError(.malformedModel, error.message) }
          break
        }
        node += 1
        if let last = steps.last, last.node == node - 1,
          let deferred = last.operation as? any DeferredOperator
        {
          segments[current].deferred = deferred
          break
        }
      }
      segments[current].nodes = start..<node
      segments[current].steps = segments[current].steps.lowerBound..<steps.count
      try allocate(current)
    } catch {
      segments[current].nodes = start..<subgraph.operators.count
      dropSegments(from: current)
      throw error
    }
  }

  private func prepareOperator(_ index: Int) throws(ApusError) {
    let node = Node(index: index, in: self)
    let stateCount = states.count
    let registration = try context.registration(of: subgraph.operators[index], at: index)
    let operation: any Operator
    do throws(ApusError) {
      operation = try registration.prepare(node)
    } catch {
      states.removeSubrange(stateCount...)
      throw error
    }
    if operation is any DeferredOperator {
      steps.append(Step(node: index, operation: operation))
      return
    }
    for output in subgraph.operators[index].outputs where states[output].shape == nil {
      throw node.unsupported("output \(states[output].name) is not computed")
    }
    if registration.isPure, try fold(operation, node: index, scratchFrom: stateCount) {
      for scratch in stateCount..<states.count { setBuffer(scratch, .none) }
      states.removeSubrange(stateCount...)
      return
    }
    if !(operation is ViewOperator) { steps.append(Step(node: index, operation: operation)) }
  }

  /// Runs an operator now if all that it reads is constant; its outputs become constants.
  private func fold(_ operation: any Operator, node: Int, scratchFrom stateCount: Int) throws(ApusError)
    -> Bool
  {
    let entry = subgraph.operators[node]
    let inputs = entry.inputs.filter { $0 >= 0 }
    guard !inputs.isEmpty, inputs.allSatisfy({ states[$0].constant != nil }) else { return false }
    if operation is ViewOperator {
      for output in entry.outputs {
        let constant = states[states[output].root].constant
        states[output].constant = constant
        setBuffer(output, constant?.buffer ?? .none)
      }
      return true
    }
    let written = entry.outputs + Array(stateCount..<states.count)
    var total = 0
    for index in written { total += min(try byteCount(of: index), Self.foldLimit + 1) }
    guard total <= Self.foldLimit else { return false }
    let isShared = inputs.allSatisfy { states[$0].constant?.isOfModel == true }
    if isShared, let known = model.foldedConstants(subgraph: subgraphIndex, tensors: entry.outputs) {
      try adopt(known, by: entry)
      return true
    }
    // What is written beyond the outputs is given back below.
    try reserve(total)
    var memories: [TensorMemory] = []
    for index in written {
      let memory = TensorMemory(byteCount: try byteCount(of: index))
      setBuffer(index, TensorBuffer(base: memory.base, byteCount: try byteCount(of: index)))
      memories.append(memory)
    }
    try operation.invoke(TensorTable(buffers, threads: threads))
    var results: [ConstantData] = []
    for (position, output) in entry.outputs.enumerated() {
      results.append(
        ConstantData(
          base: UnsafeRawPointer(memories[position].base), byteCount: try byteCount(of: output),
          owner: memories[position], isOfModel: isShared))
    }
    if isShared { model.remember(results, subgraph: subgraphIndex, tensors: entry.outputs) }
    try adopt(results, by: entry)
    return true
  }

  /// Results of constants larger than this are computed in each run instead of being kept.
  private static let foldLimit = 256 << 20

  private func adopt(_ constants: [ConstantData], by entry: OperatorEntry) throws(ApusError) {
    try hold(constants.reduce(0) { $0 + $1.byteCount })
    for (output, constant) in zip(entry.outputs, constants) {
      states[output].constant = constant
      setBuffer(output, constant.buffer)
    }
  }

  /// Gives memory to what a segment produces.
  private func allocate(_ current: Int) throws(ApusError) {
    let segment = segments[current]
    var lastUses: [Int: Int] = [:]
    // Outputs without a shape are a deferred operator's.
    let produced = segment.nodes.flatMap { subgraph.operators[$0].outputs }.filter {
      states[$0].shape != nil && !states[$0].isDiscarded
    }
    for tensor in produced where states[tensor].constant == nil && !states[tensor].isVariable {
      let root = states[tensor].root
      lastUses[root] = max(lastUses[root] ?? -1, states[tensor].lastUse)
    }
    var requests: [OffsetAssignment.Request] = []
    var tensors: [Int] = []
    let end = segment.nodes.upperBound
    for tensor in produced
    where states[tensor].root == tensor && states[tensor].constant == nil && !states[tensor].isVariable {
      let first = states[tensor].producer
      let last = min(max(first, lastUses[tensor] ?? first), end)
      requests.append(
        .init(byteCount: try byteCount(of: tensor), lifetime: (preservesAllTensors ? 0 : first)...last))
      tensors.append(tensor)
    }
    for scratch in segment.stateCount..<states.count {
      let node = states[scratch].producer
      requests.append(.init(byteCount: try byteCount(of: scratch), lifetime: node...node))
      tensors.append(scratch)
    }
    segments[current].memory = try place(requests, tensors: tensors, block: current + 1)
    memoryPlan.arenaByteCount = arenaByteCount
    for tensor in produced where states[tensor].root != tensor {
      setBuffer(tensor, buffers[states[tensor].root])
    }
  }

  func place(
    _ requests: [OffsetAssignment.Request], tensors: [Int], block: Int
  ) throws(ApusError) -> TensorMemory {
    let assignment = OffsetAssignment(requests)
    guard let byteCount = assignment.byteCount else {
      throw ApusError(
        .resourceLimit, "the tensors of subgraph \(subgraphIndex) take more bytes than can be counted")
    }
    try reserve(byteCount)
    let memory = TensorMemory(byteCount: byteCount)
    for (position, tensor) in tensors.enumerated() {
      let (offset, count) = (assignment.offsets[position], requests[position].byteCount)
      setBuffer(tensor, TensorBuffer(base: memory.base + offset, byteCount: count))
      memoryPlan.entries.append(
        .init(
          name: tensor < subgraph.tensors.count ? states[tensor].name : "", block: block, offset: offset,
          byteCount: count, lifetime: requests[position].lifetime))
    }
    return memory
  }

  /// Refuses to pass the limit on memory.
  func reserve(_ byteCount: Int) throws(ApusError) {
    let held = segments.reduce(arenaByteCount + memoryPlan.variableByteCount) { $0 + $1.constantByteCount }
    guard byteCount <= memoryLimit, held <= memoryLimit - byteCount else {
      throw ApusError(
        .resourceLimit,
        "subgraph \(subgraphIndex): needs \(byteCount) bytes beside \(held), more than the limit of \(memoryLimit)"
      )
    }
  }

  /// Notes bytes that the segment in preparation keeps outside the arena.
  private func hold(_ byteCount: Int) throws(ApusError) {
    try reserve(byteCount)
    if !segments.isEmpty { segments[segments.count - 1].constantByteCount += byteCount }
  }

  /// The bytes of a tensor whose shape is known.
  func byteCount(of index: Int) throws(ApusError) -> Int {
    let state = states[index]
    guard let width = state.type.storedByteCount else {
      throw ApusError(.unsupportedOperator, "tensor \(state.name): type \(state.type) is not supported")
    }
    let (count, overflow) = (state.shape?.elementCount ?? 0).multipliedReportingOverflow(by: width)
    guard !overflow, count < .max / 2 else {
      throw ApusError(
        .resourceLimit, "tensor \(state.name): \(state.shape ?? []) takes more bytes than can be counted")
    }
    return count
  }

  private func setBuffer(_ index: Int, _ buffer: TensorBuffer) {
    if index >= bufferCapacity {
      let capacity = max(index + 1, bufferCapacity * 2)
      let larger = UnsafeMutablePointer<TensorBuffer>.allocate(capacity: capacity)
      larger.initialize(repeating: .none, count: capacity)
      larger.update(from: buffers, count: bufferCapacity)
      buffers.deallocate()
      buffers = larger
      bufferCapacity = capacity
    }
    buffers[index] = buffer
  }

  // MARK: Services to nodes

  /// A tensor that an operator reads.
  func inputSlot(_ index: Int, of node: Node) throws(ApusError) -> TensorSlot {
    let state = states[index]
    guard let shape = state.shape, state.producer < node.index || state.isVariable else {
      throw node.malformed("reads \(state.name), which nothing before it writes")
    }
    return slot(index, shape: shape)
  }

  func slot(_ index: Int, shape: TensorShape) -> TensorSlot {
    let state = states[index]
    return TensorSlot(
      index: index, name: state.name, type: state.type, shape: shape, quantization: state.quantization,
      isConstant: state.constant != nil)
  }

  /// Gives a tensor its shape.
  func define(_ index: Int, shape: TensorShape, by node: Node) throws(ApusError) -> TensorSlot {
    guard shape.dimensions.allSatisfy({ $0 >= 0 }) else {
      throw node.malformed("output \(states[index].name) would have the shape \(shape)")
    }
    if states[index].isVariable {
      guard shape == states[index].shape else {
        throw node.malformed(
          "variable \(states[index].name), \(states[index].shape ?? []), would have the shape \(shape)")
      }
      return slot(index, shape: shape)
    }
    states[index].shape = shape
    let byteCount = try byteCount(of: index)
    guard byteCount <= memoryLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): output \(states[index].name), \(shape), takes \(byteCount) bytes, more than the limit of "
          + "\(memoryLimit)")
    }
    return slot(index, shape: shape)
  }

  /// Lets a tensor share the memory of another.
  func share(_ slot: TensorSlot, with input: TensorSlot) {
    states[slot.index].root = states[input.index].root
  }

  /// Makes an output a constant of this plan.
  func setConstant(_ slot: TensorSlot, bytes: [UInt8]) {
    let memory = TensorMemory(byteCount: bytes.count)
    memory.base.copyMemory(from: bytes, byteCount: bytes.count)
    let constant = ConstantData(
      base: UnsafeRawPointer(memory.base), byteCount: bytes.count, owner: memory, isOfModel: false)
    states[slot.index].constant = constant
    setBuffer(slot.index, constant.buffer)
  }

  /// Memory for one operator's run.
  func scratch(byteCount: Int, of node: Node) throws(ApusError) -> TensorSlot {
    guard byteCount >= 0, byteCount <= memoryLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): needs \(byteCount) bytes to work in, more than the limit of \(memoryLimit)")
    }
    let index = states.count
    states.append(
      TensorState(
        name: "\(node.place), scratch", type: .uint8, quantization: nil, shape: [byteCount], constant: nil,
        root: index, producer: node.index, lastUse: node.index, isVariable: false))
    setBuffer(index, .none)
    return slot(index, shape: [byteCount])
  }

  /// A tensor's values at preparation.
  func values<T: TensorElement>(of slot: TensorSlot, as type: T.Type) throws(ApusError) -> [T] {
    let state = states[slot.index]
    if let constant = state.constant { return constant.values() }
    let isComputed = isRunning && state.producer < (segments.last?.nodes.lowerBound ?? 0)
    guard isComputed, let base = buffers[slot.index].base else {
      throw ApusError(.valueNotKnown, "\(state.name) is known only when the model runs")
    }
    let byteCount = buffers[slot.index].byteCount
    let bytes = Array(UnsafeRawBufferPointer(start: base, count: byteCount))
    segments[segments.count - 1].assumptions.append((slot.index, bytes))
    let count = byteCount / MemoryLayout<T>.stride
    return Array(UnsafeBufferPointer(start: base.assumingMemoryBound(to: T.self), count: count))
  }

  /// Whether all operators before `node` have run, and none since.
  func isNextInRun(_ node: Int) -> Bool { isRunning && segments.last?.nodes.lowerBound == node }

  /// Weights in a kernel's layout; see ``Node/packedWeights(of:layout:most:measuring:pack:)``.
  func packedWeights(
    of constants: [TensorSlot], layout: String, most: Int,
    measuring: (kernel: any PreparedConvolution, filter: TensorSlot)?, node: Node,
    pack: (borrowing TensorTable, PackedWeights) -> Void
  ) throws(ApusError) -> (weights: PackedWeights, arePacked: Bool) {
    let areConstant = constants.allSatisfy { states[$0.index].constant != nil }
    var byteCount = most
    if areConstant, let measuring {
      let tensors = TensorTable(buffers, threads: threads)
      byteCount = measuring.kernel.packedByteCount(for: tensors.readBytes(measuring.filter))
    }
    do throws(ApusError) { try hold(byteCount) } catch {
      throw ApusError(.resourceLimit, "\(node.place): packed weights: \(error.message)")
    }
    guard areConstant else { return (PackedWeights(byteCount: byteCount), false) }
    func make(in pool: MemoryPool? = nil) -> PackedWeights {
      let weights = PackedWeights(byteCount: byteCount, pool: pool)
      pack(TensorTable(buffers, threads: threads), weights)
      return weights
    }
    guard constants.allSatisfy({ states[$0.index].constant?.isOfModel == true }) else {
      return (make(), true)
    }
    let key = PackedWeightsKey(subgraph: subgraphIndex, tensors: constants.map(\.index), layout: layout)
    return (model.packedWeights(key, make: make), true)
  }

  /// Gives back the values of a constant that an operator computed and that `node` alone reads, and has packed: the
  /// weights of many models are halves, made floats.
  func discardPacked(_ slot: TensorSlot, by node: Node) {
    let state = states[slot.index]
    guard let constant = state.constant, constant.isOfModel, state.producer >= 0, state.root == slot.index,
      state.readerCount == 1, state.lastUse == node.index
    else { return }
    model.forget(subgraph: subgraphIndex, tensor: slot.index)
    states[slot.index].isDiscarded = true
    states[slot.index].constant = nil
    setBuffer(slot.index, .none)
  }

  // MARK: Running

  /// Walks the plan. Allocates nothing once every segment is planned.
  func run(_ observer: RunObserver) throws(ApusError) {
    precondition(isPrepared, "the interpreter prepares before it runs")
    isRunning = true
    defer { isRunning = false }
    var current = 0
    while true {
      if current == segments.count {
        try planSegment(after: current - 1)
      } else if !assumptionsHold(current) {
        dropSegments(from: current)
        try planSegment(after: current - 1)
      }
      if let delivery = segments[current].delivery { try deliver(delivery) }
      for index in segments[current].steps {
        try observer.checkCancellation()
        observer.begin()
        try steps[index].operation.invoke(TensorTable(buffers, threads: threads))
        observer.end(step: index)
      }
      if isLast(current) { return }
      current += 1
    }
  }

  /// Whether a segment ends the graph.
  private func isLast(_ segment: Int) -> Bool {
    segments[segment].nodes.upperBound == subgraph.operators.count && segments[segment].deferred == nil
  }

  /// Whether the whole graph is planned, so that the shapes of all outputs are known.
  var isPlanned: Bool { isPrepared && !segments.isEmpty && isLast(segments.count - 1) }

  private func planSegment(after previous: Int) throws(ApusError) {
    if let deferred = segments[previous].deferred {
      try planDelivery(of: deferred, node: segments[previous].nodes.upperBound - 1)
    } else {
      try planSegment(from: segments[previous].nodes.upperBound)
    }
  }

  /// Copies what a deferred operator computed to where the operators behind it read it.
  private func deliver(_ delivery: (operation: any DeferredOperator, node: Int)) throws(ApusError) {
    let table = TensorTable(buffers, threads: threads)
    for (position, output) in subgraph.operators[delivery.node].outputs.enumerated() {
      var bytes = table.writeBytes(slot(output, shape: states[output].shape ?? []))
      try delivery.operation.deliver(position, into: &bytes)
    }
  }

  private func assumptionsHold(_ index: Int) -> Bool {
    if let delivery = segments[index].delivery {
      let outputs = subgraph.operators[delivery.node].outputs
      let holds = outputs.indices.allSatisfy {
        delivery.operation.outputShape($0) == states[outputs[$0]].shape
      }
      guard holds else { return false }
    }
    guard segments[index].conditions.allSatisfy({ $0() }) else { return false }
    for (tensor, bytes) in segments[index].assumptions {
      let buffer = buffers[tensor]
      guard buffer.byteCount == bytes.count else { return false }
      let now = UnsafeRawBufferPointer(start: buffer.base, count: buffer.byteCount)
      guard now.elementsEqual(bytes) else { return false }
    }
    return true
  }

  /// Lends the table of tensors, whose elements hold once a run is done.
  func withTable<R>(_ body: (borrowing TensorTable) throws(ApusError) -> R) throws(ApusError) -> R {
    try body(TensorTable(buffers, threads: threads))
  }
}
