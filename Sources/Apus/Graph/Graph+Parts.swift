import ApusFormat
import ApusKernels

/// What a plan is made of.
extension Graph {
  /// What planning knows of one tensor, or of one piece of scratch memory.
  struct TensorState {
    /// What a tensor would be after padding another.
    struct Padding {
      let tensor: Int
      let top: Int
      let left: Int
    }

    /// What the file says of it; nil for scratch memory.
    let entry: TensorEntry?
    let type: ElementType
    /// Nil until a producer defines it.
    var shape: TensorShape?
    /// The values, where no run is needed to know them.
    var constant: ConstantData?
    /// Whether the values were given back, as nothing will read them.
    var isDiscarded = false
    /// Whether its only reader has packed a constant of the file, which it need not read again.
    var isPacked = false
    /// The tensor whose memory this one shares; itself where it has memory of its own.
    var root: Int
    /// The padding that its reader does itself; see ``Graph/absorbPadding(_:of:amounts:)``.
    var padding: Padding?
    /// The operator that computes it together with its own output; see ``Operator/followed(by:)``.
    var fusedInto: Int?
    /// The operator that writes it; −1 for inputs, variables and constants.
    var producer: Int
    /// How often operators read it.
    var readerCount = 0
    /// The last operator that reads it; `Int.max` for inputs and outputs of the graph.
    var lastUse: Int
    /// Whether it keeps its values between runs.
    let isVariable: Bool

    /// For messages.
    var name: String { entry?.name ?? "scratch memory of operator #\(producer)" }
    var quantization: QuantizationParameters? { entry?.parameters }
  }

  /// Where a tensor or a piece of scratch memory lies; see ``MemoryPlan/Entry``.
  struct Placement {
    let tensor: Int
    let block: Int
    let offset: Int
    let byteCount: Int
    let lifetime: ClosedRange<Int>
  }

  /// An operator that has work to do. A class, so that the walk copies no operators.
  final class Step {
    let node: Int
    let operation: any Operator

    init(node: Int, operation: any Operator) {
      self.node = node
      self.operation = operation
    }

    /// Runs the operator where it is.
    @inline(never)
    func invoke(_ table: borrowing TensorTable) throws(ApusError) { try operation.invoke(table) }
  }

  /// A stretch of operators prepared at once.
  struct Segment {
    /// The operators of the file that it covers.
    var nodes: Range<Int>
    /// Their steps.
    var steps: Range<Int>
    /// The same, uncounted: a run would spend a few percent of a small model's time on counting references.
    var walk: [Unmanaged<Step>] = []
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
}
