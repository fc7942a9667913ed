// SPDX-License-Identifier: Apache-2.0

extension Interpreter {
  /// How to run a model.
  ///
  /// ```swift
  /// var options = Interpreter.Options()
  /// options.threadCount = 2
  /// options.memoryLimit = 256 << 20
  /// let interpreter = try Interpreter(model: model, options: options)
  /// ```
  public struct Options: Sendable {
    /// The maximum number of threads of one run, 1 to 64. Results do not depend on it.
    public var threadCount = 1

    /// The name of the kernel set to prefer, from ``Runtime/kernelSets``. Nil means the one that the environment
    /// variable `APUS_KERNELS` names, or else the fastest that this machine runs.
    public var kernels: String?

    /// The most bytes that tensors and packed weights may take, those of all subgraphs together, the file apart. More is
    /// an error before memory is taken.
    public var memoryLimit = 1 << 30

    /// The most elements of one tensor; more is an error at preparation.
    public var elementLimit = Int(Int32.max)

    /// The maximum work of one operator in one run, in multiply-accumulates, or comparisons of a pool. Preparation
    /// throws `resourceLimit` beyond it. The default takes some minutes.
    public var workLimit = 1 << 42

    /// The most steps that one run may take, loops included: multiply-accumulates, and elements read or written. More
    /// is an error during the run. The default is some minutes' work.
    public var runWorkLimit = 1 << 44

    /// The most iterations of all `WHILE` loops of one run together.
    public var loopLimit = 1 << 22

    /// The longest time that a preparation may take, and a run; nil, the default, for any. A run ends soon after it, within
    /// long products too, with an error.
    public var timeLimit: Duration?

    /// When preparations and runs end, as with ``timeLimit``, whichever comes first.
    package var deadline: ContinuousClock.Instant?

    /// Whether to time each operator, see ``Interpreter/profile``.
    public var profiles = false

    /// Whether each tensor has memory of its own, so that ``Interpreter/withTensor(at:as:_:)`` can read all of them
    /// after a run. Costs memory and speed.
    public var preservesAllTensors = false

    /// The rewrites that planning applies; outputs stay the same without them.
    package var passes = Passes.all

    /// Input shapes by position, which replace those of the file. For models with open dimensions, which otherwise
    /// are 1.
    public var inputShapes: [Int: TensorShape] = [:]

    /// Operators of your own that the model may use. Names must be unique.
    public var customOperators: [CustomOperator] = []

    /// Makes the default options: one thread, the fastest kernels.
    public init() {}
  }
}
