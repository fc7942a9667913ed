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

    /// The maximum size of tensors and packed weights, in bytes, without the file itself. Preparation throws
    /// `resourceLimit` beyond it.
    public var memoryLimit = 2 << 30

    /// The maximum work of one operator in one run, in multiply-accumulates, or comparisons of a pool. Preparation
    /// throws `resourceLimit` beyond it. The default takes some minutes.
    public var workLimit = 1 << 42

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
